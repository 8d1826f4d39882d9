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
import { type BenchRun, peaksOf, spreadOf } from '../bench-run.ts';
import { formatSpeed } from '../../output/format.ts';
import { type Axis, drawAxes, linePath, logAxis } from '../plot/axes.ts';

/** A case on a roofline. */
interface Point {
  readonly title: string;
  readonly op: string;
  /** Operations a byte. */
  readonly intensity: number;
  readonly gflops: number;
}

/** The part of the plane that all rooflines of a page show, so that they can be compared. */
interface Extent {
  readonly intensity: readonly [number, number];
  readonly gflops: readonly [number, number];
}

const [WIDTH, HEIGHT] = [440, 330];
const [LEFT, RIGHT, TOP, BOTTOM] = [58, 20, 16, 46];

/** The cases of a backend that do arithmetic. */
export function pointsOf({ rows }: BenchRun, backend: string): readonly Point[] {
  return rows.flatMap(({ benchCase, results }) => {
    const outcome = results.find((result) => result.backend === backend)?.outcome;
    if (outcome?.status !== 'measured' || benchCase.flops === 0) return [];
    const { id, op, flops, bytes } = benchCase;
    const { median } = spreadOf(outcome.roundSeconds);
    return [{ title: id, op, intensity: flops / bytes, gflops: flops / 1e9 / median }];
  });
}

/** Room for all points, in whole powers of ten. */
export function extentOf(points: readonly Point[]): Extent {
  const around = (values: readonly number[]): readonly [number, number] => {
    const low = 10 ** Math.floor(Math.log10(Math.min(...values) / 1.2));
    return [low, Math.max(10 * low, 10 ** Math.ceil(Math.log10(Math.max(...values) * 1.2)))];
  };
  return {
    intensity: around(points.map(({ intensity }) => intensity)),
    gflops: around(points.map(({ gflops }) => gflops)),
  };
}

/** Speed over arithmetic intensity, both logarithmic, under the roof of the best bandwidth and the best speed seen. */
export function roofline(run: BenchRun, backend: string, extent: Extent): Html {
  const x = logAxis(extent.intensity, [LEFT, WIDTH - RIGHT], 'operations a byte');
  const y = logAxis(extent.gflops, [HEIGHT - BOTTOM, TOP], 'GFLOP/s');
  const points = pointsOf(run, backend);
  const { gflops, gbs } = peaksOf(run, backend);
  const [outline, labels] = gflops === null || gbs === null ? [] : roof({ gflops, gbs }, extent, x, y);
  const description = `${points.length} cases of ${backend}: GFLOP/s over operations a byte`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">
    ${drawAxes(x, y)} ${outline}
    ${points.map(
      (point) =>
        html`<path
          class="mark"
          d="${symbolOf(point.op)}"
          transform="translate(${at(x.at(point.intensity))},${at(y.at(point.gflops))})"
        >
          <title>
            ${point.title}: ${formatSpeed(point.gflops)} GFLOP/s at ${formatSpeed(point.intensity)} operations a byte
          </title>
        </path>`,
    )}
    ${labels}
  </svg>`;
}

/** The outline, and the words on it. */
function roof(
  { gflops, gbs }: { gflops: number; gbs: number },
  { intensity, gflops: range }: Extent,
  x: Axis,
  y: Axis,
): [Html, Html] {
  const [left, right] = intensity;
  const ridge = gflops / gbs;
  const start = Math.max(left, range[0] / gbs);
  const corners: [number, number][] = [
    [start, start * gbs],
    [Math.min(right, Math.max(start, ridge)), Math.min(gflops, right * gbs)],
    [right, Math.min(gflops, right * gbs)],
  ];
  const [fromX, fromY] = [x.at(start), y.at(start * gbs)];
  const [ridgeX, ridgeY] = [x.at(Math.max(start, Math.min(ridge, right))), y.at(Math.min(gflops, right * gbs))];
  const angle = (Math.atan2(ridgeY - fromY, ridgeX - fromX) * 180) / Math.PI;
  const slope = html`<text
    class="label"
    text-anchor="middle"
    transform="translate(${at((fromX + ridgeX) / 2)},${at((fromY + ridgeY) / 2)}) rotate(${at(angle)}) translate(0,-7)"
    >${formatSpeed(gbs)} GB/s</text
  >`;
  const level = html`<text class="label" x="${WIDTH - RIGHT - 4}" y="${at(y.at(gflops) - 7)}" text-anchor="end"
    >${formatSpeed(gflops)} GFLOP/s</text
  >`;
  // A slope that is hardly to be seen has no room for words.
  return [html`<path class="roof" d="${linePath(x, y, corners)}" />`, html`${level}${ridgeX - fromX > 60 && slope}`];
}

const at = (value: number): string => value.toFixed(1);

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
function symbolOf(op: string, size = 70): string {
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
