import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { formatModel, MODEL_FILES } from './models.ts';
import { NotHere } from './options.ts';
import { formatResults, geometricMean, type Standing, standingsOf } from './table.ts';
import { loadResults, type Results, RESULTS, saveText } from './results.ts';

/** Ratios of ours to others over the cases of a run. */
interface Ratios {
  readonly mean: number;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

/** A run in two lines of the picture, in float32. */
interface Summary {
  readonly arena: string;
  readonly peers: Ratios | undefined;
  readonly limit: Ratios | undefined;
  /** The fastest peers, the one of most cases first. */
  readonly fastest: readonly string[];
}

/** Of Okabe and Ito's colours, which people with colour blindness tell apart. */
const [OURS, LIMIT] = ['#0072b2', '#d55e00'];
const [WIDTH, LEFT, ROW] = [800, 180, 40];
const TOP = 92;

/** All runs in one picture: how many times as fast ours is as the fastest peer and as the limit, over the cases of each. */
export function drawOverview(all: readonly Results[]): string {
  const summaries = all.map(summaryOf).sort((a, b) => (b.peers?.mean ?? 0) - (a.peers?.mean ?? 0));
  const ends = summaries.flatMap(({ peers, limit }) => [peers, limit].flatMap((each) => (each ? [each] : [])));
  const bottom = TOP + summaries.length * ROW;
  const low = Math.log10(Math.min(...ends.map(({ least }) => least)) / 1.3);
  const high = Math.log10(Math.max(...ends.map(({ most }) => most)) * 1.3);
  const x = (value: number): string =>
    (LEFT + ((Math.log10(value) - low) / (high - low)) * (WIDTH - 24 - LEFT)).toFixed(1);
  const text = (left: number | string, y: number, content: string, rest = ''): string =>
    `<text x="${left}" y="${y}" ${rest}>${content}</text>`;
  const rule = (left: string, right: string, top: number, end: number, rest: string): string =>
    `<line x1="${left}" x2="${right}" y1="${top}" y2="${end}" ${rest}/>`;
  const powers = Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, i) => 10 ** (Math.ceil(low) + i));
  const ticks = powers.flatMap((value) => [
    rule(x(value), x(value), TOP, bottom, `stroke="#808080" opacity="${value === 1 ? 1 : 0.25}"`),
    text(x(value), bottom + 17, `${value}`, 'text-anchor="middle"'),
  ]);
  const mark = (ratios: Ratios | undefined, at: number, color: string): string =>
    ratios === undefined
      ? ''
      : rule(x(ratios.least), x(ratios.most), at, at, `stroke="${color}" stroke-width="3" opacity="0.45"`) +
        `<circle cx="${x(ratios.mean)}" cy="${at}" r="5" fill="${color}"/>`;
  const rows = summaries.flatMap(({ arena, peers, limit }, i) => {
    const middle = TOP + (i + 0.5) * ROW;
    return [
      text(LEFT - 12, middle + 4, arena, 'text-anchor="end"'),
      mark(peers, middle - 6, OURS) + mark(limit, middle + 6, LIMIT),
    ];
  });
  const height = bottom + 56;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="11">`,
    '<style>svg { fill: #222; background: #fff } @media (prefers-color-scheme: dark) { svg { fill: #dfe3e8; background: #1b1b1f } }</style>',
    text(
      16,
      28,
      'concord beside others in float32, on the same device in the same run',
      'font-size="15" font-weight="bold"',
    ),
    text(16, 46, 'dots: geometric mean over the cases; lines: from the slowest case to the fastest'),
    `<circle cx="22" cy="66" r="5" fill="${OURS}"/>${text(32, 70, 'over the fastest peer of each case')}`,
    `<circle cx="240" cy="66" r="5" fill="${LIMIT}"/>${text(250, 70, "over the limit: the vendor's library, OpenBLAS or loops in C")}`,
    ...ticks,
    text((LEFT + WIDTH - 24) / 2, bottom + 38, 'how many times as fast concord is', 'text-anchor="middle"'),
    ...rows,
    '</svg>',
  ].join('\n')}\n`;
}

/** Which backend to take where, with figures from the runs, in Markdown. */
export function formatAdvice(all: readonly Results[]): string {
  const of = (isOne: (arena: string) => boolean): Results | undefined => all.filter(({ arena }) => isOne(arena)).at(-1);
  const gpu = of((arena) => /^webgpu-(?!lavapipe|swiftshader)/.test(arena));
  const wasm = of((arena) => arena.startsWith('wasm-'));
  const cpu = of((arena) => arena === 'cpu');
  const points = [
    gpu && ['**On a GPU take `webgpu`.**', ...besidePeers(gpu), ...besideLimit(gpu)],
    wasm && ['**Without a GPU take `wasm`.**', ...besidePeers(wasm), ...productsOf(wasm)],
    cpu && ['**`cpu` is there because it runs everywhere**, not for its speed.', ...besidePeers(cpu)],
  ];
  return points.flatMap((lines) => (lines ? [`- ${lines.join('\n  ')}`] : [])).join('\n');
}

function besidePeers(results: Results): string[] {
  const { arena, peers, fastest } = summaryOf(results);
  if (peers === undefined) return [`On ${arena} it was not timed beside others.`];
  const cases = peers.count === 1 ? 'one case' : `geometric mean of ${peers.count} cases`;
  return [
    `On ${arena} it is ${asFast(peers, 'the fastest other library')}`,
    `(${cases} in float32; the fastest is ${fastest.join(' or ')}).`,
  ];
}

function besideLimit(results: Results): string[] {
  const { limit } = summaryOf(results);
  return limit === undefined ? [] : [`It is ${asFast(limit, "the vendor's library")}.`];
}

/** The peer that multiplies matrices faster, if there is one. */
function productsOf(results: Results): string[] {
  const products = { ...results, cases: results.cases.filter(({ op }) => op === 'gemm') };
  const { peers, fastest } = summaryOf(products);
  if (peers === undefined || peers.mean >= 1) return [];
  return [`For products of matrices alone ${fastest[0]} is ${(1 / peers.mean).toFixed(1)} times as fast.`];
}

/** The mean, and the slowest and the fastest case. */
function asFast({ mean, least, most, count }: Ratios, other: string): string {
  const range = count === 1 ? '' : `, ${least.toFixed(2)} to ${most.toFixed(2)} times by case`;
  return `${mean.toFixed(2)} times as fast as ${other}${range}`;
}

function summaryOf(results: Results): Summary {
  // f16 apart: others use matrix units, by which float32 is not to be judged.
  const standings = standingsOf(results).filter(({ result }) => !result.op.endsWith('_f16'));
  const counts = new Map<string, number>();
  for (const { peer } of standings) if (peer) counts.set(peer.name, (counts.get(peer.name) ?? 0) + 1);
  return {
    arena: results.arena,
    peers: ratiosOf(standings.map(({ overPeer }: Standing) => overPeer)),
    limit: ratiosOf(standings.map(({ ofLimit }) => ofLimit)),
    fastest: [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name),
  };
}

function ratiosOf(values: readonly (number | undefined)[]): Ratios | undefined {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  return { mean: geometricMean(known), least: Math.min(...known), most: Math.max(...known), count: known.length };
}

const README = new URL('../README.md', import.meta.url);

/**
 * `[--check] [FOLDER]`: writes tables beside every result in the folder. Of the committed results, the picture
 * of all and the part of README.md between markers too, so that no number is typed. `--check` writes nothing.
 *
 * @returns whether all files agree with the results; always true without `--check`
 */
export async function benchReport(args: readonly string[]): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { check: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [path] = positionals;
  const parent = path === undefined ? RESULTS : pathToFileURL(`${path}/`);
  const all = loadAll(parent, 'results.json');
  const models = Object.values(MODEL_FILES).flatMap(({ results: file, table }) =>
    loadAll(parent, file).map((found) => ({ table, ...found })),
  );
  if (all.length + models.length === 0) throw new NotHere(`no folder in ${parent.pathname} has results`);
  const files = all.map(({ folder, results }) => tableFile(folder, results));
  for (const { folder, results, table } of models) {
    files.push([new URL(table, folder), `${formatModel(results)}\n`]);
  }
  if (path === undefined) {
    const runs = all.map(({ results }) => results);
    files.push([new URL('overview.svg', RESULTS), drawOverview(runs)]);
    files.push([README, fillMarkers(readFileSync(README, 'utf8'), new Map([['advice', formatAdvice(runs)]]))]);
  }
  if (!values.check) {
    for (const [file, text] of files) saveText(file, text);
    return true;
  }
  const old = files.filter(([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
  for (const [file] of old)
    console.error(`${fileURLToPath(file)} is not what the results say: run \`pnpm bench report\``);
  return old.length === 0;
}

/** The table of a run, as a file of its folder. */
export function tableFile(folder: URL, results: Results): [URL, string] {
  return [new URL('table.md', folder), `${formatResults(results)}\n`];
}

/** The runs with that file name, in an order that does not depend on the file system. */
function loadAll(parent: URL, name: string): { folder: URL; results: Results }[] {
  if (!existsSync(parent)) throw new NotHere(`there is no folder ${parent.pathname}`);
  const found = readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .sort((x, y) => (x.name < y.name ? -1 : 1))
    .map(({ name }) => new URL(`${name}/`, parent))
    .filter((folder) => existsSync(new URL(name, folder)));
  return found.map((folder) => ({ folder, results: loadResults(folder, name) }));
}

/**
 * Replaces the text between `<!-- NAME -->` and `<!-- end NAME -->`, each on a line by itself.
 *
 * @throws {Error} where a part is asked for that is not there, or a marker has no end
 */
export function fillMarkers(text: string, parts: ReadonlyMap<string, string>): string {
  return text.replaceAll(/^<!-- (?!end )(.+) -->\n(?:[^]*?^(<!-- end \1 -->)$)?/gm, (_, name: string, end?: string) => {
    const part = parts.get(name);
    if (part === undefined)
      throw new Error(`no results for the marker ${name}; there are: ${[...parts.keys()].join(', ')}`);
    if (end === undefined) throw new Error(`the marker ${name} has no end`);
    return `<!-- ${name} -->\n\n${part}\n\n${end}`;
  });
}
