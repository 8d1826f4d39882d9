import { type BackendProvider, isBackendError, printable } from '@concord/backend-core';
import { requiredBackends } from './choose-backend.ts';
import type { CommandContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { colorsFor } from './output/colors.ts';

/** Why a backend was not run. */
export interface NotRun {
  readonly backend: string;
  readonly message: string;
  readonly hint: string | null;
  /** `CONCORD_REQUIRE` names the backend. */
  readonly isRequired: boolean;
  /** It is required, or it did not fail as an absent device does. */
  readonly isFailure: boolean;
}

/** The result of `work`, or the reason why it was not done. */
export type Tried<T> =
  | { readonly report: T; readonly notRun?: never }
  | { readonly report?: never; readonly notRun: NotRun };

/** Runs `work` on a provider's backend, or finds out why it cannot be used here. */
export async function tryBackend<T extends object & { readonly notRun?: string; readonly failed?: number }>(
  provider: BackendProvider,
  { providers }: CommandContext,
  work: () => Promise<T>,
): Promise<Tried<T>> {
  const backend = provider.name;
  const isRequired = requiredBackends(providers).includes(backend);
  const notRun = (message: string, hint: string | undefined, isBroken = false): Tried<T> => ({
    notRun: {
      backend,
      message: printable(message),
      hint: hint === undefined ? null : printable(hint),
      isRequired,
      isFailure: isRequired || isBroken,
    },
  });
  // A probe that throws is for `concord devices` to judge; here it counts only what the backend does when it is made.
  const probe = await provider.probe().catch(() => undefined);
  if (probe?.available === false) return notRun(probe.message, probe.hint);
  try {
    const report = await work();
    return report.notRun === undefined ? { report } : notRun(report.notRun, undefined, (report.failed ?? 0) > 0);
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    return notRun(error.detail, error.hint);
  }
}

/**
 * Prints why a backend was not run.
 *
 * @returns the exit code: a failure if the backend is required or broken
 */
export function reportNotRun(
  { backend, message, hint, isRequired, isFailure }: NotRun,
  context: CommandContext,
): number {
  const { stderr } = context;
  const colors = colorsFor(stderr);
  const label = isFailure ? colors.red('error:') : colors.yellow('not run:');
  const demand = isRequired ? ', and CONCORD_REQUIRE asks for it' : '';
  stderr.write(`${label} ${backend}: ${message}${demand} (BACKEND_UNAVAILABLE)\n`);
  if (hint !== null) stderr.write(`${colors.cyan('hint:')} ${hint}\n`);
  return isFailure ? EXIT.failed : EXIT.unavailable;
}
