import type { TopLevelSpec } from 'vega-lite';
import { type Plot, type Point, ROOFLINE } from './series.ts';

/** Ours first; then colours that are told apart without seeing red and green (Okabe and Ito's). */
const OURS = '#0072b2';
const OPTION = '#004268';
const PEERS = ['#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#b0a000', '#8c6d5a', '#7f6bb3', '#a0a0a0'];
const LIMITS = ['#d55e00', '#8b1a1a'];
const LEVEL = '#404040';
const WIDTH = 520;
const BAR = 11;

/** The drawing of one plot: speed over size for square products, bars for all others, on white. */
export function specOf(plot: Plot, title: string, subtitle: string): TopLevelSpec {
  const squares = plot.points.filter(({ size }) => size !== undefined);
  const others = plot.points.filter(({ size }) => size === undefined);
  const hasCurve = new Set(squares.map(({ size }) => size)).size > 1;
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: 'white',
    padding: 16,
    title: {
      text: title,
      subtitle,
      anchor: 'start',
      fontSize: 15,
      subtitleFontSize: 11,
      subtitleColor: '#606060',
      offset: 8,
    },
    vconcat: [
      ...(hasCurve ? [curves(squares, plot)] : []),
      ...(hasCurve && others.length === 0 ? [] : [bars(hasCurve ? others : plot.points, plot)]),
    ],
    config: {
      font: 'Helvetica, Arial, sans-serif',
      view: { stroke: null },
      axis: {
        labelFontSize: 11,
        titleFontSize: 11,
        titleFontWeight: 'normal',
        gridColor: '#e8e8e8',
        labelLimit: 260,
        labelPadding: 6,
      },
      legend: { labelFontSize: 11, symbolOpacity: 1, labelLimit: 0 },
    },
  } as TopLevelSpec;
}

/** Speed over the size of a product, both in powers. */
function curves(points: readonly Point[], plot: Plot): object {
  const sizes = [...new Set(points.map(({ size }) => size))];
  return {
    width: WIDTH,
    height: 260,
    data: { values: points },
    encoding: {
      x: {
        field: 'size',
        type: 'quantitative',
        scale: { type: 'log', base: 2, nice: false },
        axis: { values: sizes, title: 'rows of the square product', format: 'd' },
      },
      y: {
        field: 'speed',
        type: 'quantitative',
        scale: { type: 'log' },
        axis: { title: plot.unit, format: '~g', tickCount: 6 },
      },
      color: colors(plot),
    },
    layer: [
      {
        transform: [{ filter: `datum.role != '${ROOFLINE}'` }],
        mark: { type: 'line', point: { size: 36, filled: true } },
        encoding: {
          strokeWidth: {
            field: 'role',
            type: 'ordinal',
            scale: { type: 'ordinal', domain: ['ours', 'option', 'peer', 'limit'], range: [3.5, 2.5, 1.75, 1.75] },
            legend: null,
          },
        },
      },
      {
        transform: [{ filter: `datum.role == '${ROOFLINE}'` }],
        mark: { type: 'line', strokeDash: [5, 4], strokeWidth: 1.5 },
      },
    ],
  };
}

/** A bar for each of ours, with options or without, and of the peers; the limit and the roofline are lines across the bars of a case. */
function bars(points: readonly Point[], plot: Plot): object {
  const cases = [...new Set(points.map((point) => point.case))];
  const isBar = "(datum.role == 'ours' || datum.role == 'option' || datum.role == 'peer')";
  const isRunner = ({ role }: Point): boolean => role === 'ours' || role === 'option' || role === 'peer';
  const runners = [...new Set(points.filter(isRunner).map(({ who }) => who))];
  const step = Math.max(2, runners.length) * BAR;
  return {
    width: WIDTH,
    height: cases.length * (step + 14),
    data: { values: points },
    encoding: {
      y: { field: 'case', type: 'nominal', sort: cases, axis: { title: null, ticks: false, domain: false } },
      x: { field: 'speed', type: 'quantitative', axis: { title: plot.unit, format: '~g' } },
      color: colors(plot),
    },
    layer: [
      {
        transform: [{ filter: isBar }],
        mark: { type: 'bar' },
        encoding: { yOffset: { field: 'who', type: 'nominal', sort: runners } },
      },
      {
        transform: [{ filter: `!${isBar}` }],
        mark: { type: 'tick', thickness: 2.5, size: step, orient: 'vertical', opacity: 1 },
      },
    ],
  };
}

/** One colour and place in the legend for everybody in the whole plot. */
function colors({ points }: Plot): object {
  const of = (...roles: readonly string[]): string[] => [
    ...new Set(points.filter(({ role }) => roles.includes(role)).map(({ who }) => who)),
  ];
  const [ours, options, peers, limits] = [of('ours'), of('option'), of('peer'), of('limit')];
  const take = (palette: readonly string[], count: number): string[] =>
    Array.from({ length: count }, (_, i) => palette[i % palette.length] as string);
  return {
    field: 'who',
    type: 'nominal',
    scale: {
      domain: [...ours, ...options, ...peers, ...limits, ...of(ROOFLINE)],
      range: [
        ...take([OURS], ours.length),
        ...take([OPTION], options.length),
        ...take(PEERS, peers.length),
        ...take(LIMITS, limits.length),
        LEVEL,
      ],
    },
    legend: { title: null, orient: 'top', columns: 4 },
  };
}
