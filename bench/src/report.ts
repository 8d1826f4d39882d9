import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { formatModel, MODEL_FILES } from './models/table.ts';
import { NotHere } from './options.ts';
import { drawOverview, formatAdvice, formatSummary } from './overview.ts';
import { loadOverheadTargets, loadTargets } from './ratios.ts';
import { loadResults, RESULTS, type Results, saveText } from './results.ts';
import { formatResults } from './table.ts';

const README = new URL('../README.md', import.meta.url);
/** The table that `bench kernels --torch` printed on the GPU. */
const KERNELS = new URL('webgpu-nvidia-h200/kernels.md', RESULTS);

/**
 * `[--check] [FOLDER]`: writes tables beside every result in the folder. Of the committed results, the
 * picture of all and the parts of README.md between markers too, so that no number is typed. `--check` writes nothing.
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
  const models = Object.entries(MODEL_FILES).flatMap(([kind, { results: file, table }]) =>
    loadAll(parent, file).map((found) => ({ kind, table, ...found })),
  );
  if (all.length + models.length === 0) throw new NotHere(`no folder in ${parent.pathname} has results`);
  const files = all.map(({ folder, results }) => tableFile(folder, results));
  for (const { folder, results, table } of models) {
    files.push([new URL(table, folder), `${formatModel(results, loadTargets())}\n`]);
  }
  if (path === undefined) {
    const runs = all.map(({ results }) => results);
    const kernels = readFileSync(KERNELS, 'utf8').trim();
    files.push([new URL('overview.svg', RESULTS), drawOverview(runs)]);
    files.push([README, fillReadme(readFileSync(README, 'utf8'), runs, kernels, models)]);
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
  return [new URL('table.md', folder), `${formatResults(results, loadTargets(), loadOverheadTargets())}\n`];
}

/** The text of README.md with the tables of these results. */
export function fillReadme(
  readme: string,
  all: readonly Results[],
  kernels: string,
  models: readonly { readonly kind: string; readonly results: Results }[],
): string {
  const targets = loadTargets();
  const parts = all.map((results): [string, string] => [
    results.arena,
    formatResults(results, targets, loadOverheadTargets()),
  ]);
  const tables = models.map(({ kind, results }): [string, string] => [
    `${kind} ${results.arena}`,
    formatModel(results, targets),
  ]);
  return fillMarkers(
    readme,
    new Map([
      ...parts,
      ['advice', formatAdvice(all)],
      ['summary', formatSummary(all)],
      ['kernels', kernels],
      ...tables,
    ]),
  );
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
