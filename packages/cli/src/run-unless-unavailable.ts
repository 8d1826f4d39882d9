import { type BackendProvider, isBackendError } from '@concord/backend-core';
import { requiredBackends } from './choose-backend.ts';
import type { CommandContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { colorsFor } from './output/colors.ts';

/**
 * Runs `work` on a provider's backend, or says why it cannot be used here.
 *
 * @returns what `work` gives, or the exit code where nothing was run: a failure if `CONCORD_REQUIRE` names the backend,
 *   or if it did not fail as an absent device does
 */
export async function runUnlessUnavailable<T extends object & { readonly notRun?: string; readonly failed?: number }>(
  provider: BackendProvider,
  context: CommandContext,
  work: () => Promise<T>,
): Promise<T | number> {
  // A probe that throws is for `concord devices` to judge; here it counts only what the backend does when it is made.
  const probe = await provider.probe().catch(() => undefined);
  if (probe?.available === false) return reportNotRun(provider.name, probe.message, probe.hint, context);
  try {
    const report = await work();
    if (report.notRun === undefined) return report;
    return reportNotRun(provider.name, report.notRun, undefined, context, (report.failed ?? 0) > 0);
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    return reportNotRun(provider.name, error.detail, error.hint, context);
  }
}

function reportNotRun(
  name: string,
  reason: string,
  hint: string | undefined,
  context: CommandContext,
  isBroken = false,
): number {
  const { providers, stderr } = context;
  const colors = colorsFor(stderr);
  const isRequired = requiredBackends(providers).includes(name);
  const isFailure = isRequired || isBroken;
  const label = isFailure ? colors.red('error:') : colors.yellow('not run:');
  const demand = isRequired ? ', and CONCORD_REQUIRE asks for it' : '';
  stderr.write(`${label} ${name}: ${reason}${demand} (BACKEND_UNAVAILABLE)\n`);
  if (hint !== undefined) stderr.write(`${colors.cyan('hint:')} ${hint}\n`);
  return isFailure ? EXIT.failed : EXIT.unavailable;
}
