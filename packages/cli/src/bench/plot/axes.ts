import { scaleLinear, scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import { type Html, html } from '../../html/html.ts';

/** A direction of a plot. */
export interface Axis {
  /** The place of a value, in pixels. */
  readonly at: (value: number) => number;
  /** Places of the first and the last value: from the left to the right, or from the bottom to the top. */
  readonly range: readonly [number, number];
  /** The values that are marked. */
  readonly ticks: readonly number[];
  readonly title: string;
}

/** Two values, or a point. */
export type Pair = readonly [number, number];

/** An axis on which equal distances are equal differences. */
export function linearAxis(domain: Pair, range: Pair, title: string, ticks = 5): Axis {
  const scale = scaleLinear(domain, range);
  return { at: (value) => scale(value), range, ticks: scale.ticks(ticks), title };
}

/** An axis on which equal distances are equal ratios. Default for `ticks`: powers of ten, on a short axis 2 and 5 times them too. */
export function logAxis(domain: Pair, range: Pair, title: string, ticks?: readonly number[]): Axis {
  const scale = scaleLog(domain, range);
  const [low, high] = domain.map((value) => Math.log10(value)) as [number, number];
  const decades = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => 10 ** (Math.floor(low) + i));
  const steps = high - low < 2.5 ? [1, 2, 5] : [1];
  const marked = decades.flatMap((decade) => steps.map((step) => step * decade));
  const isInside = (value: number): boolean => value >= domain[0] * 0.999 && value <= domain[1] * 1.001;
  return { at: (value) => scale(value), range, ticks: ticks ?? marked.filter(isInside), title };
}

/** Grid lines with their labels, and the titles. Styles are those of `plotFile`, or of the page. */
export function drawAxes(x: Axis, y: Axis): Html {
  const [[left, right], [bottom, top]] = [x.range, y.range];
  const middle = (range: Pair): string => at((range[0] + range[1]) / 2);
  return html`${x.ticks.map(
      (value) =>
        html`<g class="tick" transform="translate(${at(x.at(value))},0)">
          <line y1="${top}" y2="${bottom}" />
          <text y="${bottom + 17}" text-anchor="middle">${label(value)}</text>
        </g>`,
    )}
    ${y.ticks.map(
      (value) =>
        html`<g class="tick" transform="translate(0,${at(y.at(value))})">
          <line x1="${left}" x2="${right}" />
          <text x="${left - 6}" dy=".35em" text-anchor="end">${label(value)}</text>
        </g>`,
    )}
    <text x="${middle(x.range)}" y="${bottom + 38}" text-anchor="middle">${x.title}</text>
    <text transform="translate(${left - 45},${middle(y.range)}) rotate(-90)" text-anchor="middle">${y.title}</text>`;
}

/** The `d` of a path through points. */
export function linePath(x: Axis, y: Axis, points: readonly Pair[]): string {
  const draw = line<Pair>(
    ([value]) => x.at(value),
    ([, value]) => y.at(value),
  );
  return draw.digits(1)(points) ?? '';
}

/** Styles for a plot that is a file by itself. */
const PLOT_STYLES = `
  text { font: 11px Helvetica, Arial, sans-serif; fill: #222; }
  .title { font-size: 15px; font-weight: bold; }
  .soft, .tick text { fill: #606060; }
  .tick line { stroke: #e8e8e8; }
  path { fill: none; }
`;

/** A plot as a file by itself, on white. */
export function plotFile(width: number, height: number, title: string, subtitle: string, content: Html): string {
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img">
    <style>
      ${PLOT_STYLES}
    </style>
    <rect width="${width}" height="${height}" fill="white" />
    <text class="title" x="16" y="28">${title}</text>
    <text class="soft" x="16" y="46">${subtitle}</text>
    ${content}
  </svg> `.text;
}

const at = (value: number): string => value.toFixed(1);

function label(value: number): string {
  return value.toLocaleString('en', Number.isInteger(value) ? {} : { maximumSignificantDigits: 3 });
}
