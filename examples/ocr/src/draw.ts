import type { Line } from './ocr.ts';

/** The used part of a canvas' 2d context, in Node and in a page. */
export interface DrawingContext {
  font: string;
  fillStyle: unknown;
  strokeStyle: unknown;
  lineWidth: number;
  beginPath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  closePath(): void;
  stroke(): void;
  fillRect(x: number, y: number, width: number, height: number): void;
  fillText(text: string, x: number, y: number, maxWidth?: number): void;
  measureText(text: string): { readonly width: number };
}

const [BOX, PAPER] = ['#d0006f', 'rgba(255, 255, 255, 0.85)'];

/** Draws a box around each line, and what it says above it. */
export function drawLines(context: DrawingContext, lines: readonly Line[]): void {
  for (const { text, box } of lines) {
    context.beginPath();
    for (const [i, [x, y]] of box.entries()) context[i === 0 ? 'moveTo' : 'lineTo'](x, y);
    context.closePath();
    const ys = box.map(([, y]) => y);
    const size = Math.min(24, Math.max(11, (Math.max(...ys) - Math.min(...ys)) / 3));
    [context.strokeStyle, context.lineWidth, context.font] = [BOX, Math.max(1.5, size / 10), `${size}px sans-serif`];
    context.stroke();
    const [left, top] = [Math.min(...box.map(([x]) => x)), Math.max(size, Math.min(...ys))];
    context.fillStyle = PAPER;
    context.fillRect(left, top - size, context.measureText(text).width + 4, size);
    context.fillStyle = BOX;
    context.fillText(text, left + 2, top - size / 6);
  }
}
