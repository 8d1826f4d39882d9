import manifest from '@concord/cli/package.json' with { type: 'json' };
import { BENCH_OPS, type BenchOp, toBenchJson } from '@concord/cli/bench';
import {
  type ConformanceRun,
  nearFilters,
  type ReportEnvironment,
  toConformanceJson,
  toJsonText,
} from '@concord/cli/reports';
import { allCases, type ConformanceCase, selectCases } from '@concord/conformance';
import { runBench } from './run-bench.ts';
import { runConformanceOn } from './run-conformance-on.ts';
import type { SuiteProgress, SuiteRequest, SuiteResult } from './suite.ts';

/**
 * Runs conformance on backends, one after the other, and then measures them.
 *
 * @param signal - ends it early: the speeds measured by then are in the result, a part of conformance is not
 * @throws {Error} where no case matches the filter
 */
export async function runSuite(
  request: SuiteRequest,
  report: (progress: SuiteProgress) => void,
  signal: AbortSignal,
): Promise<SuiteResult> {
  const selection = {
    ...(request.filter === '' ? {} : { filter: request.filter }),
    ...(request.sample === 1 ? {} : { sample: request.sample }),
  };
  const selected = selectCases(selection);
  if (selected.length === 0) throw nothingMatches(request.filter);
  const environment = environmentOf();
  const backends = [];
  for (const name of request.backends) {
    if (!signal.aborted) backends.push(await runConformanceOn(name, selection, { report, signal, environment }));
  }
  const conformance: ConformanceRun = { backends, ...selection };
  const isWhole = backends.length === request.backends.length && backends.every(isWholeRun(selected.length));
  const ops = opsOf(selected, request.filter);
  const bench =
    request.withBench && !signal.aborted ? await runBench(request.backends, ops, report, signal) : undefined;
  return {
    ...(isWhole ? { conformance: toJsonText(toConformanceJson(conformance)) } : {}),
    ...(bench === undefined ? {} : { bench: toJsonText(toBenchJson(bench, environment)) }),
    wasCancelled: signal.aborted,
  };
}

const isWholeRun =
  (selected: number) =>
  ({ cases, notRun }: ConformanceRun['backends'][number]): boolean =>
    notRun !== undefined || cases.length === selected;

/** The ops to measure: those of the selected cases, and the copies if all cases are selected. */
function opsOf(selected: readonly ConformanceCase[], filter: string): BenchOp[] {
  const ops = new Set<string>(selected.map(({ op }) => op));
  return BENCH_OPS.filter((op) => filter === '' || ops.has(op));
}

function environmentOf(): ReportEnvironment {
  return { date: new Date(), concord: manifest.version, host: globalThis.navigator.userAgent };
}

function nothingMatches(filter: string): Error {
  const near = nearFilters(filter, allCases()).map((each) => `"${each}"`);
  const hint =
    near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '; an op such as gemm matches, or gemm/exact/**';
  return new Error(`no case matches "${filter}"${hint}`);
}
