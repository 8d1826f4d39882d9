import { scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import { type Html, html } from '../../html/html.ts';
import { type BenchRun, peaksOf } from '../bench-run.ts';
import { formatSpeed } from '../format-speed.ts';
import { spreadOf } from '../statistics.ts';
import { symbolOf } from './symbols.ts';

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
  const x = scaleLog(extent.intensity, [LEFT, WIDTH - RIGHT]);
  const y = scaleLog(extent.gflops, [HEIGHT - BOTTOM, TOP]);
  const points = pointsOf(run, backend);
  const { gflops, gbs } = peaksOf(run, backend);
  const [outline, labels] = gflops === null || gbs === null ? [] : roof({ gflops, gbs }, extent, x, y);
  const description = `${points.length} cases of ${backend}: GFLOP/s over operations a byte`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">
    ${decades(extent.intensity).map(
      (value) =>
        html`<g class="tick" transform="translate(${x(value)},0)">
          <line y1="${TOP}" y2="${HEIGHT - BOTTOM}" />
          <text y="${HEIGHT - BOTTOM + 17}" text-anchor="middle">${label(value)}</text>
        </g>`,
    )}
    ${decades(extent.gflops).map(
      (value) =>
        html`<g class="tick" transform="translate(0,${y(value)})">
          <line x1="${LEFT}" x2="${WIDTH - RIGHT}" />
          <text x="${LEFT - 6}" dy=".35em" text-anchor="end">${label(value)}</text>
        </g>`,
    )}
    <text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">operations a byte</text>
    <text transform="translate(13,${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">GFLOP/s</text>
    ${outline}
    ${points.map(
      (point) =>
        html`<path
          class="mark"
          d="${symbolOf(point.op)}"
          transform="translate(${at(x(point.intensity))},${at(y(point.gflops))})"
        >
          <title>
            ${point.title}: ${formatSpeed(point.gflops)} GFLOP/s at ${formatSpeed(point.intensity)} operations a byte
          </title>
        </path>`,
    )}
    ${labels}
  </svg>`;
}

type Scale = (value: number) => number;

/** The outline, and the words on it. */
function roof(
  { gflops, gbs }: { gflops: number; gbs: number },
  { intensity, gflops: range }: Extent,
  x: Scale,
  y: Scale,
): [Html, Html] {
  const [left, right] = intensity;
  const ridge = gflops / gbs;
  const start = Math.max(left, range[0] / gbs);
  const corners: [number, number][] = [
    [start, start * gbs],
    [Math.min(right, Math.max(start, ridge)), Math.min(gflops, right * gbs)],
    [right, Math.min(gflops, right * gbs)],
  ];
  const path = line<[number, number]>(
    ([value]) => x(value),
    ([, value]) => y(value),
  ).digits(1)(corners);
  const [fromX, fromY] = [x(start), y(start * gbs)];
  const [ridgeX, ridgeY] = [x(Math.max(start, Math.min(ridge, right))), y(Math.min(gflops, right * gbs))];
  const angle = (Math.atan2(ridgeY - fromY, ridgeX - fromX) * 180) / Math.PI;
  const slope = html`<text
    class="label"
    text-anchor="middle"
    transform="translate(${at((fromX + ridgeX) / 2)},${at((fromY + ridgeY) / 2)}) rotate(${at(angle)}) translate(0,-7)"
    >${formatSpeed(gbs)} GB/s</text
  >`;
  const level = html`<text class="label" x="${WIDTH - RIGHT - 4}" y="${at(y(gflops) - 7)}" text-anchor="end"
    >${formatSpeed(gflops)} GFLOP/s</text
  >`;
  // A slope that is hardly to be seen has no room for words.
  return [html`<path class="roof" d="${path ?? ''}" />`, html`${level}${ridgeX - fromX > 60 && slope}`];
}

function decades([low, high]: readonly [number, number]): readonly number[] {
  const [first, last] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

function label(value: number): string {
  return value >= 1 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(1)));
}

const at = (value: number): string => value.toFixed(1);
