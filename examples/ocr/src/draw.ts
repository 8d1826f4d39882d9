import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Line } from './ocr.ts';
import type { Point } from './picture.ts';

/** The used part of a canvas' 2d context, in Node and in a page. */
export interface DrawingContext extends Pick<
  SKRSContext2D,
  'beginPath' | 'lineTo' | 'closePath' | 'stroke' | 'fillRect' | 'fillText' | 'lineWidth' | 'font'
> {
  readonly canvas: { readonly width: number };
  fillStyle: unknown;
  strokeStyle: unknown;
  measureText(text: string): { readonly width: number };
}

const [BOX, PAPER] = ['#d0006f', 'rgba(255, 255, 255, 0.85)'];

/** Draws a box around each line, and what it says above it. */
export function drawLines(context: DrawingContext, lines: readonly Line[]): void {
  for (const { text, box } of lines) {
    context.beginPath();
    for (const corner of box) context.lineTo(...corner);
    context.closePath();
    const [[x, y], , , [lastX, lastY]] = box as [Point, Point, Point, Point];
    const size = Math.min(24, Math.max(11, Math.hypot(lastX - x, lastY - y) / 2.5));
    [context.strokeStyle, context.lineWidth, context.font] = [BOX, Math.max(1.5, size / 10), `${size}px sans-serif`];
    context.stroke();
    const width = context.measureText(text).width + 4;
    const left = Math.max(0, Math.min(...box.map((corner) => corner[0]), context.canvas.width - width));
    const top = Math.max(size, Math.min(...box.map((corner) => corner[1])));
    context.fillStyle = PAPER;
    context.fillRect(left, top - size, width, size);
    context.fillStyle = BOX;
    context.fillText(text, left + 2, top - size / 6);
  }
}
