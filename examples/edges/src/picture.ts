/** An opaque picture with 8 bits a channel. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** 3 for red, green and blue, 1 for grey. */
  readonly channels: 1 | 3;
  /** Row by row, the channels of a pixel one after the other. */
  readonly pixels: Uint8Array;
}
