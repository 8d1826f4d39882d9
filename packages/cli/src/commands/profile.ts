import { Console } from 'node:console';
import { type ComputeBackend, isBackendError, printable } from '@concord/backend-core';
import {
  type DeviceLimits,
  profile as runProfile,
  type Profile,
  type ProfiledLaunch,
  sumLaunches,
  traceEvents,
} from '@concord/backend-core/profile';
import { chooseProvider } from '../choose-backend.ts';
import { CommandError, EXIT, messageOf } from '../command-error.ts';
import type { CommandContext } from '../context.ts';
import { loadModule } from '../load-module.ts';
import { colorsFor } from '../output/colors.ts';
import { toJsonText } from '../output/json-text.ts';
import { checkReportFiles, STDOUT, writeJson, writeText } from '../output/output-file.ts';
import type { PROFILE_ROWS } from '../option-values.ts';
import { measureLimits } from '../profile/measure-limits.ts';
import { profileText } from '../profile/profile-text.ts';

/** The JSON that `concord profile --json` writes. */
export interface ProfileJson extends Omit<Profile, 'result'> {
  /** The error of the program, where it failed. */
  readonly error?: { readonly code?: string; readonly message: string };
  /** True if Ctrl-C ended it. */
  readonly interrupted?: true;
}

/** Options of `concord profile`. */
export interface ProfileOptions {
  readonly export: string;
  readonly backend?: string;
  readonly by: (typeof PROFILE_ROWS)[number];
  readonly roofline?: true;
  readonly warmUp: number;
  readonly json?: string;
  readonly trace?: string;
}

/** Runs `concord profile`: a user's program, and what it launched. */
export async function profile(context: CommandContext, file: string, options: ProfileOptions): Promise<number> {
  const { stdout, stderr, signal } = context;
  const { json, trace, by } = options;
  await checkReportFiles(json, trace);
  const program = await loadProgram(file, options.export);
  const backend = await (await chooseProvider(context.providers, options.backend)).create();
  const isPiped = json === STDOUT || trace === STDOUT;
  const ownConsole = globalThis.console;
  // What the program says is for people, too.
  if (isPiped) globalThis.console = new Console(process.stderr);
  try {
    await backend.init();
    const limits: DeviceLimits = options.roofline === true ? await measureLimits(backend, signal) : {};
    let profiled = await runProfile(backend, program, { limits, signal });
    for (let run = 0; run < options.warmUp && profiled.result.status === 'fulfilled'; run++) {
      profiled = await runProfile(backend, program, { limits, signal });
    }
    const text = isPiped ? stderr : stdout;
    const rows = by === 'op' ? profiled.sums : sumLaunches(profiled.launches, nameBy(by), limits);
    text.write(`${profileText(profiled, by, rows, colorsFor(text))}\n`);
    if (trace !== undefined) await writeText(trace, toJsonText(traceEvents(profiled)), stdout);
    if (json !== undefined) await writeJson(json, toProfileJson(profiled, signal.aborted), stdout);
    const { result } = profiled;
    if (signal.aborted) {
      text.write(`${colorsFor(text).yellow('Interrupted')}: this is what ran until then\n`);
      return EXIT.interrupted;
    }
    if (result.status === 'rejected') throw failed(result.reason);
    return EXIT.ok;
  } finally {
    globalThis.console = ownConsole;
    await backend.dispose().catch(() => undefined);
  }
}

/** Returns a function that names the row of a launch; called once for each launch, in their order. */
function nameBy(by: Exclude<ProfileOptions['by'], 'op'>): (launch: ProfiledLaunch) => string {
  const nameOf = ({ op, kernel, size }: ProfiledLaunch): string =>
    `${op === kernel ? op : `${op} ${kernel}`} ${size}`.trim();
  if (by === 'shape') return nameOf;
  let index = 0;
  if (by === 'launch') return (launch) => `${index++} ${nameOf(launch)}`;
  return ({ kernel, passes }) => {
    const variants = new Set(passes.map((pass) => pass.variant ?? pass.kernel));
    return variants.size === 0 ? kernel : [...variants].join(' + ');
  };
}

async function loadProgram(file: string, name: string): Promise<(backend: ComputeBackend) => unknown> {
  const exported = await loadModule(file);
  const program = Object.hasOwn(exported, name) ? exported[name] : undefined;
  if (typeof program === 'function') return program as (backend: ComputeBackend) => unknown;
  throw new CommandError(
    `${file} exports no function "${name}"; its exports: ${Object.keys(exported).join(', ') || 'none'}`,
    {
      hint: 'write export default async function (backend) { ... }, or name another export with --export',
    },
  );
}

function toProfileJson({ result, ...profiled }: Profile, isInterrupted: boolean): ProfileJson {
  if (isInterrupted) return { ...profiled, interrupted: true };
  if (result.status === 'fulfilled') return profiled;
  const { reason } = result as { reason: unknown };
  const code = isBackendError(reason) ? { code: reason.code } : {};
  return { ...profiled, error: { ...code, message: printable(messageOf(reason)) } };
}

function failed(reason: unknown): CommandError {
  const known = isBackendError(reason) ? reason : undefined;
  return new CommandError(`the program failed: ${(known?.detail || messageOf(reason)).replaceAll('\n', ' ')}`, {
    code: known?.code ?? 'PROGRAM_FAILED',
    exitCode: EXIT.failed,
    hint: known?.hint,
    cause: reason,
  });
}
