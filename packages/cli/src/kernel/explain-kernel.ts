import {
  type BackendProvider,
  type ExplainedPass,
  isBackendError,
  printable,
  selectBackend,
} from '@concord/backend-core';
import type { Kernel, RunShape } from '@concord/backend-core/kernel';
import type { Colors } from '../output/colors.ts';
import { plural } from '../output/format.ts';

/** The explanation of a kernel call by one backend. */
export type KernelExplanation =
  | { readonly backend: string; readonly status: 'unavailable'; readonly reason: string; readonly hint: string | null }
  | { readonly backend: string; readonly device: string; readonly status: 'unsupported'; readonly reason: string }
  | { readonly backend: string; readonly device: string; readonly status: 'supported'; readonly passes: null }
  | {
      readonly backend: string;
      readonly device: string;
      readonly status: 'supported';
      readonly passes: readonly ExplainedPass[];
    };

/**
 * Asks a backend whether it takes a call of a kernel, and if it can tell, how it would compute it.
 *
 * @returns `passes` is null where the backend does not explain
 */
export async function explainKernel(
  provider: BackendProvider,
  kernel: Kernel,
  call: Omit<RunShape, 'kernel'>,
): Promise<KernelExplanation> {
  const { name } = provider;
  try {
    const { backend } = await selectBackend([provider], { prefer: [name] });
    try {
      const about = { backend: name, device: printable(backend.device.name) };
      const support = backend.supports('run', { kernel, ...call });
      if (!support.ok) return { ...about, status: 'unsupported', reason: support.reason };
      const passes = backend.explain?.(kernel, call).passes ?? null;
      return { ...about, status: 'supported', passes };
    } finally {
      await backend.dispose().catch(() => undefined);
    }
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    const { message = error.detail, hint = null } = error.attempts?.[0] ?? {};
    return { backend: name, status: 'unavailable', reason: message, hint: hint ?? null };
  }
}

/** A backend's explanation of a call, for people. */
export function explanationText(explanation: KernelExplanation, colors: Colors): string {
  const { backend, status } = explanation;
  if (status === 'unavailable') {
    const hint = explanation.hint === null ? '' : `\n  hint: ${explanation.hint}`;
    return `${colors.bold(backend)}  ${colors.yellow('not here')}: ${explanation.reason}${hint}`;
  }
  const head = `${colors.bold(backend)} on ${explanation.device}`;
  if (status === 'unsupported') return `${head}  ${colors.yellow('does not run it')}: ${explanation.reason}`;
  if (explanation.passes === null) return `${head}  runs it; this backend does not explain how`;
  const passes = explanation.passes.map(({ variant, summary, language, code }, index) =>
    [`${index + 1}. ${colors.bold(variant)}: ${summary}`, colors.dim(language), code.trimEnd()].join('\n'),
  );
  return [`${head}  runs it in ${plural(passes.length, 'pass', 'passes')}`, ...passes].join('\n\n');
}
