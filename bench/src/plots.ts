import { drawAxes, type Html, html, linearAxis, linePath, logAxis, plotFile } from '@concord/cli/bench';
import type { Role } from './peer.ts';
import { rooflineMs } from './ratios.ts';
import type { CaseResult, Results } from './results.ts';
import { perSecond } from './table.ts';

/** The name under which the roofline is drawn. */
const ROOFLINE = 'roofline';

/** A speed to draw. */
interface Point {
  readonly case: string;
  /** Of a square product: its rows. */
  readonly size?: number;
  readonly who: string;
  readonly role: Role | typeof ROOFLINE;
  /** In the unit of the plot. */
  readonly speed: number;
}

/** An op, or a family of them, with its speeds: drawn into one file. */
interface Plot {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly Point[];
}

/** One plot for each family of ops that has a time. */
export function plotsOf(results: Results): Plot[] {
  const families = new Map<string, CaseResult[]>();
  for (const result of results.cases) {
    const name = familyOf(result.op);
    families.set(name, [...(families.get(name) ?? []), result]);
  }
  return [...families].flatMap(([name, cases]) => {
    const points = cases.flatMap((result) => pointsOf(result, results, cases));
    const fastest = Math.max(0, ...points.map(({ speed }) => speed));
    if (fastest === 0) return [];
    const [scale, prefix] = fastest >= 1e12 ? [1e12, 'T'] : [1e9, 'G'];
    const unit = `${prefix}${cases[0]?.flops === undefined ? 'B' : 'FLOP'}/s`;
    return [{ name, unit, points: points.map((point) => ({ ...point, speed: point.speed / scale })) }];
  });
}

function pointsOf(result: CaseResult, { contestants, ceilings }: Results, family: readonly CaseResult[]): Point[] {
  const isMixed = family.some(({ op }) => op !== result.op);
  const label = isMixed ? `${result.op.replace(/^[a-z]+_/, '')} ${result.case}` : result.case;
  const isSquare = result.op.startsWith('gemm') && /^\d+$/.test(result.case);
  const base = { case: label, ...(isSquare ? { size: Number(result.case) } : {}) };
  const points: Point[] = contestants.flatMap(({ name, role }) => {
    const ms = result.entries.find((entry) => entry.name === name)?.ms;
    return ms === undefined ? [] : [{ ...base, who: name, role, speed: perSecond(result, ms) }];
  });
  if (ceilings === undefined || points.length === 0 || result.op === 'gemm_f16') return points;
  const speed = perSecond(result, rooflineMs(result, ceilings));
  return [...points, { ...base, who: ROOFLINE, role: ROOFLINE, speed }];
}

function familyOf(op: string): string {
  if (op.startsWith('reduce_')) return 'reduce';
  return op === 'copy' || op.startsWith('binary_') || op.startsWith('unary_') ? 'elementwise' : op;
}

/** Okabe and Ito's colours, which people with colour blindness tell apart, and more for many peers. */
const OURS = '#0072b2';
/** Darker than ours without an option. */
const OPTION = '#004268';
const PEERS = ['#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#b0a000', '#8c6d5a', '#7f6bb3', '#a0a0a0'];
const LIMITS = ['#d55e00', '#8b1a1a'];
const PALETTES: readonly (readonly [Point['role'], readonly string[]])[] = [
  ['ours', [OURS]],
  ['option', [OPTION]],
  ['peer', PEERS],
  ['limit', LIMITS],
  [ROOFLINE, ['#404040']],
];

/** The colour of the first one in a role. */
export function colorOf(role: 'ours' | 'limit'): string {
  return role === 'ours' ? OURS : (LIMITS[0] as string);
}

/** One colour for each contestant in a whole plot, ours first. */
function colorsOf(points: readonly Point[]): Map<string, string> {
  const pairs = PALETTES.flatMap(([role, palette]) => {
    const names = new Set(points.filter((point) => point.role === role).map(({ who }) => who));
    return [...names].map((who, i) => [who, palette[i % palette.length] as string] as const);
  });
  return new Map(pairs);
}

/** The top of the legend, below title and subtitle. */
const LEGEND_TOP = 64;
const [EDGE, ROW] = [16, 18];

/** The colours of the contestants, in as many rows as needed; widths are estimates, as the font is not known here. */
function legend(colors: ReadonlyMap<string, string>, width: number): { content: Html; height: number } {
  let [x, row] = [EDGE, 0];
  const items = [...colors].map(([who, color]) => {
    const needed = 30 + 6.5 * who.length;
    if (x > EDGE && x + needed > width) [x, row] = [EDGE, row + 1];
    const [left, top] = [x, LEGEND_TOP + row * ROW];
    x += needed;
    return html`<rect x="${left}" y="${top}" width="10" height="10" fill="${color}" /><text
        x="${left + 15}"
        y="${top + 9}"
        >${who}</text
      >`;
  });
  return { content: html`${items}`, height: (row + 1) * ROW };
}

const [WIDTH, LEFT, RIGHT] = [800, 230, 24];
/** Room for the labels of a curve's axis. */
const CURVE_LEFT = 64;
const CURVE_HEIGHT = 260;
/** Pixels below a panel for labels and title. */
const FOOT = 56;
const BAR = 11;
const GAP = 14;
const STROKE = { ours: 3.5, option: 2.5, peer: 1.75, limit: 1.75, [ROOFLINE]: 1.5 } as const;

/** Draws every op of a run: names of files, each with its SVG. */
export function drawResults(results: Results): [string, string][] {
  const { device, driver, date } = results;
  const subtitle = driver === undefined ? date : `${driver}; ${date}`;
  return plotsOf(results).map((plot) => [`${plot.name}.svg`, drawPlot(plot, `${plot.name}, ${device}`, subtitle)]);
}

/** Speed over size for square products, bars for all others. */
function drawPlot(plot: Plot, title: string, subtitle: string): string {
  const squares = plot.points.filter(({ size }) => size !== undefined);
  const hasCurve = new Set(squares.map(({ size }) => size)).size > 1;
  const others = hasCurve ? plot.points.filter(({ size }) => size === undefined) : plot.points;
  const colors = colorsOf(plot.points);
  const keys = legend(colors, WIDTH);
  const panels: Html[] = [keys.content];
  let top = LEGEND_TOP + keys.height + 8;
  if (hasCurve) {
    panels.push(curves(squares, plot.unit, colors, top));
    top += CURVE_HEIGHT + FOOT;
  }
  if (others.length > 0) {
    const { content, height } = bars(others, plot.unit, colors, top);
    panels.push(content);
    top += height + FOOT;
  }
  return plotFile(WIDTH, top, title, subtitle, html`${panels}`);
}

type Colors = ReadonlyMap<string, string>;

/** Speed over the size of a product, both logarithmic. */
function curves(points: readonly Point[], unit: string, colors: Colors, top: number): Html {
  const sizes = [...new Set(points.map(({ size }) => size as number))].sort((a, b) => a - b);
  const speeds = points.map(({ speed }) => speed);
  const x = logAxis(
    [sizes[0] as number, sizes.at(-1) as number],
    [CURVE_LEFT, WIDTH - RIGHT],
    'rows of the square product',
    sizes,
  );
  const y = logAxis([Math.min(...speeds) / 1.2, Math.max(...speeds) * 1.2], [top + CURVE_HEIGHT, top], unit);
  const lines = [...colors].map(([who, color]) => {
    const own = points.filter((point) => point.who === who).sort((a, b) => (a.size as number) - (b.size as number));
    if (own.length === 0) return undefined;
    const { role } = own[0] as Point;
    const places = own.map(({ size, speed }) => [size as number, speed] as const);
    const dash = role === ROOFLINE && html` stroke-dasharray="5 4"`;
    const dots = role !== ROOFLINE && places.map((place) => dot(x.at(place[0]), y.at(place[1]), color));
    const path = linePath(x, y, places);
    return html`<path d="${path}" stroke="${color}" stroke-width="${STROKE[role]}" ${dash} />${dots}`;
  });
  return html`${drawAxes(x, y)} ${lines}`;
}

/** A bar for each of ours, with options or without, and of the peers; limits and the roofline are marks across the bars of a case. */
function bars(
  points: readonly Point[],
  unit: string,
  colors: Colors,
  top: number,
): { readonly content: Html; readonly height: number } {
  const cases = [...new Set(points.map((point) => point.case))];
  const isBar = ({ role }: Point): boolean => role !== 'limit' && role !== ROOFLINE;
  const runners = [...colors.keys()].filter((who) => points.some((point) => point.who === who && isBar(point)));
  const step = Math.max(2, runners.length) * BAR;
  const height = cases.length * (step + GAP);
  const x = linearAxis([0, Math.max(...points.map(({ speed }) => speed))], [LEFT, WIDTH - RIGHT], unit);
  const y = { at: (value: number) => value, range: [top + height, top] as const, ticks: [], title: '' };
  const rows = cases.map((name, i) => {
    const first = top + i * (step + GAP) + GAP / 2;
    const marks = points.filter((point) => point.case === name);
    return html`<text x="${LEFT - 8}" y="${first + step / 2}" dy=".35em" text-anchor="end">${name}</text> ${marks.map(
        (point) => {
          const color = colors.get(point.who);
          if (!isBar(point)) return tick(x.at(point.speed), first, step, color);
          const at = first + runners.indexOf(point.who) * BAR;
          return html`<rect
            x="${LEFT}"
            y="${at}"
            width="${px(x.at(point.speed) - LEFT)}"
            height="${BAR - 1}"
            fill="${color}"
          />`;
        },
      )}`;
  });
  return { content: html`${drawAxes(x, y)} ${rows}`, height };
}

function dot(x: number, y: number, color: string): Html {
  return html`<circle cx="${px(x)}" cy="${px(y)}" r="3" fill="${color}" />`;
}

function tick(x: number, top: number, height: number, color: string | undefined): Html {
  return html`<rect x="${px(x - 1.25)}" y="${top}" width="2.5" height="${height}" fill="${color}" />`;
}

const px = (value: number): string => value.toFixed(1);
