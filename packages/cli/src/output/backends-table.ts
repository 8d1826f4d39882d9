import { type BackendRun, labelOf } from '../conformance/backend-run.ts';
import { type OpSummary, summarize } from '../conformance/op-summary.ts';
import type { Colors } from './colors.ts';
import { plural } from './format.ts';
import { plainTable } from './table.ts';

/** Several backends side by side: a row an op, a column a backend. */
export function backendsTable(runs: readonly BackendRun[], colors: Colors): string {
  const summaries = runs.map(({ cases }) => new Map(summarize(cases).map((summary) => [summary.op, summary])));
  const ops = new Set(summaries.flatMap((byOp) => [...byOp.keys()]));
  const rows = [...ops].map((op) => [op, ...runs.map((run, index) => cell(run, summaries[index]?.get(op), colors))]);
  const totals = runs.map((run) => [cell(run, totalOf(run), colors), ...variantNotes(run, colors)].join('\n'));
  const total = ['total', ...totals].map((text) => colors.bold(text));
  return plainTable(['Op', ...runs.map(labelOf)], [...rows, total], colors);
}

function totalOf({ cases }: BackendRun): OpSummary | undefined {
  return summarize(cases.map((result) => ({ ...result, op: 'total' })))[0];
}

/** The counts that forced variants add to those of cases. */
function variantNotes({ variants, variantFailures = [] }: BackendRun, colors: Colors): string[] {
  const [failed, neverRan] = [variantFailures.length, variants?.neverRan.length ?? 0];
  return [
    ...(failed > 0 ? [colors.red(`${failed} failed with variants forced`)] : []),
    ...(neverRan > 0 ? [colors.red(`${plural(neverRan, 'variant')} never ran`)] : []),
  ];
}

/** Counts, what is zero left out; failures stand on a separate line. */
function cell({ notRun }: BackendRun, summary: OpSummary | undefined, colors: Colors): string {
  if (notRun !== undefined) return notRun.isFailure ? colors.red('not run') : colors.yellow('not run');
  if (summary === undefined) return '-';
  const { passed, failed, unsupported } = summary;
  const parts = [
    failed > 0 ? colors.red(`${failed} failed`) : '',
    passed > 0 ? `${passed} passed` : '',
    unsupported > 0 ? colors.yellow(`${unsupported} unsupported`) : '',
  ];
  return parts.filter((part) => part !== '').join('\n');
}
