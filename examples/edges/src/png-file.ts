import { readFile, writeFile } from 'node:fs/promises';
import { UserError } from '@concord/example-command';
import { PNG } from 'pngjs';

/** An opaque picture with 8 bits a channel. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** 3 for red, green and blue, 1 for grey. */
  readonly channels: 1 | 3;
  /** Row by row, the channels of a pixel one after the other. */
  readonly pixels: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** A file of a few bytes can claim to be a picture of any size. */
const MAX_PIXELS = 100e6;

/**
 * Reads a PNG of any kind as 8 bits of red, green and blue. What is transparent is shown on white.
 *
 * @throws {UserError} CANNOT_READ, NO_PNG, TOO_LARGE
 */
export async function readPng(path: string): Promise<Picture> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new UserError('CANNOT_READ', `cannot read ${path}: ${reasonOf(error)}`, { cause: error });
  });
  if (!bytes.subarray(0, 8).equals(SIGNATURE)) throw new UserError('NO_PNG', `${path} is no PNG`);
  checkSize(path, bytes);
  try {
    const { width, height, data } = PNG.sync.read(bytes);
    return { width, height, channels: 3, pixels: onWhite(data) };
  } catch (error) {
    const endsEarly = error instanceof Error && error.message.includes('finished stream');
    const reason = endsEarly ? 'it ends too early' : 'its data is not what was once written';
    throw new UserError('NO_PNG', `${path} is a damaged PNG: ${reason}`, { cause: error });
  }
}

/** @throws {UserError} CANNOT_WRITE */
export async function writePng(path: string, { width, height, channels, pixels }: Picture): Promise<void> {
  const png = new PNG({ width, height });
  png.data = Buffer.from(pixels);
  const colorType = channels === 1 ? 0 : 2;
  const bytes = PNG.sync.write(png, { colorType, inputColorType: colorType, inputHasAlpha: false });
  await writeFile(path, bytes).catch((error: unknown) => {
    throw new UserError('CANNOT_WRITE', `cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  });
}

/** Looks at the header before anything is allocated for the pixels. */
function checkSize(path: string, bytes: Buffer): void {
  if (bytes.length < 24) throw new UserError('NO_PNG', `${path} is a damaged PNG: it ends in its header`);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (width === 0 || height === 0) throw new UserError('NO_PNG', `${path} is a damaged PNG: it has no pixels`);
  if (width * height > MAX_PIXELS) {
    throw new UserError('TOO_LARGE', `${path} has ${width} x ${height} pixels, more than 100 million`);
  }
}

function onWhite(rgba: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4, to += 3) {
    const alpha = rgba[from + 3] as number;
    for (let channel = 0; channel < 3; channel++) {
      rgb[to + channel] = Math.round(((rgba[from + channel] as number) * alpha + 255 * (255 - alpha)) / 255);
    }
  }
  return rgb;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message.split('\n').join(' ');
}
