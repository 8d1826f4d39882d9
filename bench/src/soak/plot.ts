/** One curve with a scale of its own, from zero. */
export interface Panel {
  readonly title: string;
  readonly values: readonly number[];
}

const WIDTH = 640;
const PANEL_HEIGHT = 110;
const LEFT = 16;
const RIGHT = 90;
const TOP = 34;
const PLOT_HEIGHT = PANEL_HEIGHT - 44;

/** An SVG of curves below each other over the same x, which runs from its first to its last value. */
export function plot(heading: string, xLabel: string, x: readonly number[], panels: readonly Panel[]): string {
  const height = TOP + panels.length * PANEL_HEIGHT + 10;
  const [first = 0, last = 1] = [x[0], x.at(-1)];
  const xAt = (value: number): number => LEFT + ((WIDTH - LEFT - RIGHT) * (value - first)) / (last - first || 1);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    text(LEFT, 18, heading, 'font-size="13" font-weight="bold"'),
    ...panels.map((panel, index) => draw(panel, TOP + index * PANEL_HEIGHT, x, xAt)),
    text(xAt(last), height - 8, `${last} ${xLabel}`, 'text-anchor="end"'),
    '</svg>',
    '',
  ].join('\n');
}

function draw({ title, values }: Panel, top: number, x: readonly number[], xAt: (value: number) => number): string {
  const most = Math.max(...values, Number.MIN_VALUE);
  const bottom = top + 20 + PLOT_HEIGHT;
  const yAt = (value: number): number => bottom - (PLOT_HEIGHT * value) / most;
  const points = values.map((value, i) => `${xAt(x[i] as number).toFixed(1)},${yAt(value).toFixed(1)}`);
  const last = values.at(-1) ?? 0;
  return [
    text(LEFT, top + 14, title),
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${bottom}" y2="${bottom}" stroke="#bbb"/>`,
    `<polyline points="${points.join(' ')}" fill="none" stroke="#06c" stroke-width="1.5"/>`,
    text(WIDTH - RIGHT + 6, yAt(last) + 4, last.toPrecision(3)),
  ].join('\n');
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped}</text>`;
}
