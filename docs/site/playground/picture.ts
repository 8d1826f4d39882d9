import type { OutputValues } from './kernel/run-program.ts';
import type { Picture } from './kernel/program-api.ts';

/** The longest side of a picture in pixels: the oracle computes each of them in float64 intervals. */
export const MAX_SIDE = 160;

/** A drawing with slopes, edges and a text. */
export function samplePicture(): Picture {
  const [width, height] = [144, 96];
  return drawn(width, height, (context) => {
    const sky = context.createLinearGradient(0, 0, 0, height);
    sky.addColorStop(0, '#1f4e8c');
    sky.addColorStop(1, '#f2b880');
    context.fillStyle = sky;
    context.fillRect(0, 0, width, height);
    context.fillStyle = '#fff3c4';
    context.beginPath();
    context.arc(106, 30, 15, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = '#22333b';
    context.beginPath();
    for (const [x, y] of [
      [0, 96],
      [0, 74],
      [34, 40],
      [58, 66],
      [78, 50],
      [144, 82],
      [144, 96],
    ] as const)
      context.lineTo(x, y);
    context.fill();
    context.fillStyle = '#e8f1f2';
    context.font = 'bold 15px sans-serif';
    context.fillText('Concord', 8, 90);
  });
}

/**
 * A picture from a file, made smaller where its longest side is above {@link MAX_SIDE}.
 *
 * @throws {Error} where the browser cannot read it
 */
export async function pictureOfFile(file: Blob): Promise<Picture> {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error('this file is no picture that the browser can read');
  });
  const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(scale * side)));
  return drawn(width as number, height as number, (context) =>
    context.drawImage(bitmap, 0, 0, width as number, height as number),
  );
}

function drawn(width: number, height: number, draw: (context: CanvasRenderingContext2D) => void): Picture {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = contextOf(canvas);
  draw(context);
  const { data } = context.getImageData(0, 0, width, height);
  return { values: Float32Array.from(data, (byte) => byte / 255), shape: [height, width, 4] };
}

/** True if an output can be shown as a picture of the size of another: grey, or with 3 or 4 channels. */
export function isPictureLike({ shape }: Pick<OutputValues, 'shape'>, { shape: [height, width] }: Picture): boolean {
  const [rows, columns, channels = 3] = shape;
  return rows === height && columns === width && shape.length <= 3 && (channels === 3 || channels === 4);
}

/** Shows an array of height x width, x 3 or x 4 numbers from 0 to 1; others are clamped. */
export function showPicture(canvas: HTMLCanvasElement, { shape, values }: Omit<OutputValues, 'name'>): void {
  const [height = 0, width = 0, channels = 1] = shape;
  Object.assign(canvas, { width, height });
  const pixels = new Uint8ClampedArray(4 * width * height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let c = 0; c < 4; c++) {
      const value = c < 3 || channels === 4 ? values[pixel * channels + Math.min(c, channels - 1)] : 1;
      pixels[4 * pixel + c] = Math.round(255 * (value ?? 0));
    }
  }
  contextOf(canvas).putImageData(new ImageData(pixels, width, height), 0, 0);
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('this browser draws no pictures: it has no 2D canvas');
  return context;
}
