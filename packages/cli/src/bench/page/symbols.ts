import {
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
  symbolWye,
} from 'd3-shape';
import { type Html, html } from '../../html/html.ts';

const SHAPES = {
  gemm: symbolSquare,
  batchedGemm: symbolDiamond,
  gemmF16: symbolCross,
  conv2dForward: symbolCircle,
  attention: symbolStar,
  reduce: symbolTriangle,
  unary: symbolWye,
  binary: { draw: drawTriangleDown },
};

/** The outline of an op's sign, around 0, 0. */
export function symbolOf(op: string, size = 70): string {
  const shape = SHAPES[op as keyof typeof SHAPES] ?? symbolCircle;
  return symbol(shape, size).digits(2)() ?? '';
}

/** A legend of the symbols of ops. */
export function symbolLegend(ops: readonly string[]): Html {
  const items = ops.map(
    (op) =>
      html`<span>
        <svg viewBox="-8 -8 16 16" aria-hidden="true"><path d="${symbolOf(op)}" /></svg>${op}
      </span>`,
  );
  return html`<div class="legend">${items}</div>`;
}

function drawTriangleDown(context: Parameters<typeof symbolTriangle.draw>[0], size: number): void {
  const y = Math.sqrt(size / (Math.sqrt(3) * 3));
  context.moveTo(0, 2 * y);
  context.lineTo(-Math.sqrt(3) * y, -y);
  context.lineTo(Math.sqrt(3) * y, -y);
  context.closePath();
}
