import type { Colors } from '../output/colors.ts';
import { plural } from '../output/format.ts';
import type { KernelExplanation } from './explain-kernel.ts';

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
