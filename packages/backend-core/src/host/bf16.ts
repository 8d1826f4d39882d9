const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/** Every value rounded to bfloat16, the upper half of a float32: to nearest, ties to even. NaN gives 0x7fc0. */
export function toBf16Array(values: ArrayLike<number>): Uint16Array {
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) halves[i] = f32ToBf16Bits(values[i] as number);
  return halves;
}

/** Every bfloat16 as a float32. Exact. */
export function fromBf16Array(halves: Uint16Array): Float32Array {
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < bits.length; i++) bits[i] = (halves[i] as number) * 0x1_0000;
  return new Float32Array(bits.buffer);
}

/** The bits of a number as bfloat16, rounded to float32 first, which is what a kernel holds: to nearest, ties to even. */
export function f32ToBf16Bits(x: number): number {
  if (Number.isNaN(x)) return 0x7fc0;
  FLOAT[0] = x;
  const bits = BITS[0] as number;
  // Half of the last place, less one where it is even, carries into it exactly where the nearest is above.
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}
