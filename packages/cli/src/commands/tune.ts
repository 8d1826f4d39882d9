import { type BackendProvider, type DeviceInfo, selectBackend } from '@concord/backend-core';
import type { BenchOp } from '../bench/bench-case.ts';
import { BENCH_OPS, type BenchSize, matchingOps } from '../bench/bench-ops.ts';
import { tuneCases } from '../bench/cases/case-lists.ts';
import { chooseProviders } from '../choose-backend.ts';
import { CommandError, EXIT } from '../command-error.ts';
import type { CommandContext } from '../context.ts';
import { type Colors, colorsFor } from '../output/colors.ts';
import { formatDuration, plural } from '../output/format.ts';
import { checkWritable, STDOUT, writeJson } from '../output/output-file.ts';
import { createProgress } from '../output/progress.ts';
import { plainTable } from '../output/table.ts';
import { isTunable, type TunableBackend, tuneCase, type TunedClass } from '../tune/tune-run.ts';

/** Options of `concord tune`. */
export interface TuneOptions {
  readonly op?: string;
  readonly backend?: string;
  readonly size: BenchSize;
  readonly seconds: number;
  readonly dryRun?: true;
  readonly json?: string;
}

/** The backends of ours that have variants. */
const TUNABLE: readonly string[] = ['level-zero', 'webgpu'];

/** Runs `concord tune`: measures kernel variants and keeps what is fastest on this device. */
export async function tune(context: CommandContext, options: TuneOptions): Promise<number> {
  const { stdout, stderr, signal } = context;
  const { json } = options;
  if (json !== undefined) await checkWritable(json);
  const text = json === STDOUT ? stderr : stdout;
  const colors = colorsFor(text);
  const backend = await openTunable(context, options.backend);
  try {
    if (options.dryRun !== true) writing(() => backend.native.tuning.checkCanSave());
    const started = performance.now();
    const { classes, without } = await tuneAll(backend, options, context);
    if (signal.aborted) {
      text.write(`${colors.yellow('Interrupted')}: the profile is as it was\n`);
      return EXIT.interrupted;
    }
    if (classes.length > 0) text.write(`${tuneTable(classes, colors)}\n\n`);
    if (without.length > 0) text.write(`Nothing to choose for ${without.join(', ')}\n`);
    const gains = classes.filter(({ chosen, preferred }) => chosen !== preferred).length;
    const time = formatDuration(performance.now() - started);
    text.write(`${plural(classes.length, 'shape')} measured, ${gains} better than the default (${time})\n`);
    const path = options.dryRun === true || classes.length === 0 ? undefined : save(backend, classes);
    text.write(path === undefined ? 'No profile written\n' : `Profile: ${path}\n`);
    if (json !== undefined) await writeJson(json, toTuneJson(backend, classes, path), stdout);
    return classes.some(({ failures }) => Object.keys(failures).length > 0) ? EXIT.failed : EXIT.ok;
  } finally {
    await backend.dispose().catch(() => undefined);
  }
}

async function openTunable({ providers }: CommandContext, option: string | undefined): Promise<TunableBackend> {
  const name = option ?? (process.env['CONCORD_BACKEND'] || (await bestTunable(providers)));
  const [provider, ...others] = await chooseProviders(providers, name);
  if (others.length > 0) {
    throw new CommandError('one backend at a time is tuned', { hint: 'concord tune --backend webgpu' });
  }
  const backend = await provider?.create();
  await backend?.init();
  if (backend !== undefined && isTunable(backend)) return backend;
  await backend?.dispose();
  throw new CommandError(`${name} has no kernel variants to choose from`, { hint: 'concord tune --backend webgpu' });
}

/** @throws {BackendError} BACKEND_UNAVAILABLE when none can be used */
async function bestTunable(providers: readonly BackendProvider[]): Promise<string> {
  const tunable = providers.filter(({ name }) => TUNABLE.includes(name));
  const { backend } = await selectBackend(tunable, { prefer: [] });
  await backend.dispose();
  return backend.name;
}

interface Tuned {
  /** One result for each shape class: of several cases of a class the first counts. */
  readonly classes: readonly TunedClass[];
  /** Cases for which there is one variant only, or which the device cannot do. */
  readonly without: readonly string[];
}

async function tuneAll(
  backend: TunableBackend,
  { op, size, seconds }: TuneOptions,
  { stderr, signal }: CommandContext,
): Promise<Tuned> {
  const ops: readonly BenchOp[] = op === undefined ? BENCH_OPS : matchingOps(op);
  const cases = tuneCases(size, ops);
  const progress = createProgress(stderr);
  const found = new Map<string, TunedClass>();
  const without: string[] = [];
  try {
    for (const [index, benchCase] of cases.entries()) {
      if (signal.aborted) break;
      const tuned = await tuneCase(benchCase, backend, {
        ...{ seconds, signal },
        onVariant: (_, variant) => progress.update(index, cases.length, `${benchCase.id} ${variant}`),
      });
      if (tuned === undefined) without.push(benchCase.id);
      if (tuned === undefined || found.has(tuned.shapeClass)) continue;
      found.set(tuned.shapeClass, tuned);
      if (!progress.visible) stderr.write(`${benchCase.id}: ${tuned.chosen} (${index + 1}/${cases.length})\n`);
    }
  } finally {
    progress.stop();
  }
  return { classes: [...found.values()], without };
}

/** @throws {CommandError} CANNOT_WRITE */
function save(backend: TunableBackend, classes: readonly TunedClass[]): string {
  const byClass = <T>(value: (tuned: TunedClass) => T): Record<string, T> =>
    Object.fromEntries(classes.map((tuned) => [tuned.shapeClass, value(tuned)]));
  const choices = byClass(({ chosen }) => chosen);
  return writing(() => backend.native.tuning.save({ choices, measured: byClass(({ measured }) => measured) }));
}

/** @throws {CommandError} CANNOT_WRITE */
function writing<T>(action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw new CommandError(`the profile cannot be written: ${(cause as Error).message}`, {
      code: 'CANNOT_WRITE',
      exitCode: EXIT.failed,
      hint: 'XDG_CACHE_HOME names another cache folder; --dry-run writes none',
    });
  }
}

/** The JSON that `concord tune --json` writes. */
export interface TuneJson {
  readonly backend: string;
  readonly device: DeviceInfo;
  /** The profile that was written, or null. */
  readonly profile: string | null;
  readonly classes: readonly TuneClassJson[];
}

/** One shape class of {@link TuneJson}. */
export interface TuneClassJson extends Omit<TunedClass, 'benchCase'> {
  /** The case that stood for it. */
  readonly case: string;
}

/** The outcome of a run without what only people need. */
export function toTuneJson(
  { name, device }: TunableBackend,
  classes: readonly TunedClass[],
  profile: string | undefined,
): TuneJson {
  return {
    backend: name,
    device,
    profile: profile ?? null,
    classes: classes.map(({ benchCase, ...tuned }) => ({ case: benchCase.id, ...tuned })),
  };
}

/** The fastest variant for each shape, how it compares with the plan's own choice, and below it what failed. */
export function tuneTable(classes: readonly TunedClass[], colors: Colors): string {
  const rows = classes.map(({ benchCase, chosen, preferred, measured, failures }) => {
    const [own, best] = [measured[preferred], measured[chosen]];
    const gain = own === undefined || best === undefined ? '' : `${(own / best).toFixed(2)}x`;
    const count = Object.keys(measured).length + Object.keys(failures).length;
    return [benchCase.id, chosen === preferred ? chosen : colors.green(chosen), gain, String(count)];
  });
  const table = plainTable(['Shape', 'Kept', 'Gain', 'Of'], rows, colors, { right: [2, 3] });
  const notes = classes.flatMap(({ benchCase, failures }) =>
    Object.entries(failures).map(([variant, why]) => `${colors.red('FAILED')} ${variant} at ${benchCase.id}: ${why}`),
  );
  return [table, ...notes].join('\n');
}
