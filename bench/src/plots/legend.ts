import { type Html, html } from '@concord/cli/bench';
import { type Point, ROOFLINE } from './series.ts';

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
export function colorsOf(points: readonly Point[]): Map<string, string> {
  const pairs = PALETTES.flatMap(([role, palette]) => {
    const names = new Set(points.filter((point) => point.role === role).map(({ who }) => who));
    return [...names].map((who, i) => [who, palette[i % palette.length] as string] as const);
  });
  return new Map(pairs);
}

/** The top of the legend, below title and subtitle. */
export const LEGEND_TOP = 64;
const [LEFT, ROW] = [16, 18];

/** The colours of the contestants, in as many rows as needed; widths are estimates, as the font is not known here. */
export function legend(colors: ReadonlyMap<string, string>, width: number): { content: Html; height: number } {
  let [x, row] = [LEFT, 0];
  const items = [...colors].map(([who, color]) => {
    const needed = 30 + 6.5 * who.length;
    if (x > LEFT && x + needed > width) [x, row] = [LEFT, row + 1];
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
