import { basename } from 'node:path';
import type { DeviceInfo } from '@concord/backend-core';
import type { BenchBackend, BenchOutcome, BenchRow, BenchRun } from '../bench/bench-run.ts';
import type { BenchBackendJson, BenchCaseJson, BenchJson, BenchResultJson } from '../bench/bench-json.ts';
import type { BackendRun, ConformanceJson, ConformanceRun } from '../conformance/backend-run.ts';
import { EXIT } from '../command-error.ts';
import { groupBy, present } from '../objects.ts';
import { verdictOf } from '../html/conformance-page.ts';
import type { ReportFile } from './load-reports.ts';

/** The properties that tell a run from others. */
interface Origin {
  readonly file: string;
  readonly backend: string;
  readonly device: DeviceInfo | null;
}

/** A name for each run, no two alike: the backend, where that is not enough with the device, else with the file. */
function uniqueLabels(origins: readonly Origin[]): readonly string[] {
  const ways: readonly ((origin: Origin) => string)[] = [
    ({ backend }) => backend,
    ({ backend, device }) => `${backend} (${device?.name ?? 'not run'})`,
    ({ backend, file }) => `${backend} (${basename(file)})`,
    ({ backend, file }) => `${backend} (${file})`,
  ];
  return origins.map((origin, index) => {
    const unique = ways.find((way) => origins.filter((other) => way(other) === way(origin)).length === 1);
    return unique?.(origin) ?? `${origin.backend} (${origin.file}, ${index + 1})`;
  });
}

/** The runs of conformance in reports: those of the same cases together, so that they stand side by side. */
export function conformanceRuns(reports: readonly ReportFile[]): readonly ConformanceRun[] {
  const all = reports.flatMap((report) =>
    report.kind === 'conformance' ? report.content.map((json) => ({ file: report.file, json })) : [],
  );
  const labels = uniqueLabels(all.map(({ file, json: { backend, device } }) => ({ file, backend, device })));
  const groups = groupBy(
    all.map(({ json }, index) => ({ json, run: backendRun(json, labels[index] as string) })),
    ({ json: { filter, sample } }) => JSON.stringify([filter, sample]),
  );
  return [...groups.values()].map((group) => ({
    backends: group.map(({ run }) => run),
    selected: Math.max(...group.map(({ run }) => run.cases.length)),
    filter: group[0]?.json.filter,
    sample: group[0]?.json.sample,
  }));
}

/** `ms` is the time of the cases alone: JSON does not have that of the run. */
function backendRun(json: ConformanceJson, label: string): BackendRun {
  const { backend, device, versions, cases, variants, variantFailures, notRun } = json;
  const ms = cases.reduce((sum, each) => sum + each.ms, 0);
  const run: BackendRun = {
    ...{ backend, label, device, versions, cases, ms, exitCode: EXIT.ok },
    ...present({ variants, variantFailures, notRun: notRun && { ...notRun, backend, isRequired: false } }),
  };
  const isFailure = verdictOf(run).style === 'fail';
  return { ...run, exitCode: isFailure ? EXIT.failed : notRun === undefined ? EXIT.ok : EXIT.unavailable };
}

/** The runs of bench in reports: those that measured alike together, so that they stand side by side. */
export function benchRuns(reports: readonly ReportFile[]): readonly BenchRun[] {
  const all = reports.flatMap(({ file, kind, content }) => (kind === 'bench' ? [{ file, json: content }] : []));
  const labels = uniqueLabels(
    all.flatMap(({ file, json }) => json.backends.map(({ backend, device }) => ({ file, backend, device }))),
  );
  let next = 0;
  const labelled = all.map(({ json }) => relabelled(json, labels.slice(next, (next += json.backends.length))));
  const groups = groupBy(labelled, ({ size, op, method }) => JSON.stringify([size, op, method.seconds]));
  return [...groups.values()].map(benchRun);
}

/** The same report, with other names for its backends. */
function relabelled(json: BenchJson, labels: readonly string[]): BenchJson {
  const label = new Map(json.backends.map(({ backend }, index) => [backend, labels[index] as string]));
  const rename = <T extends { readonly backend: string }>(part: T): T => ({
    ...part,
    backend: label.get(part.backend) ?? part.backend,
  });
  return {
    ...json,
    backends: json.backends.map(rename),
    cases: json.cases.map((each) => ({ ...each, results: each.results.map(rename) })),
  };
}

/** Reports of one size and schedule as one run. `ms` is the time of the rounds: JSON does not have that of the run. */
function benchRun(reports: readonly BenchJson[]): BenchRun {
  const [{ size, op, method }] = reports as readonly [BenchJson];
  const cases = groupBy(
    reports.flatMap((report) => report.cases),
    ({ id }) => id,
  );
  const rows = [...cases.values()].map(benchRow);
  const results = rows.flatMap((row) => row.results);
  return {
    ...{ size, op, seconds: method.seconds, rows },
    backends: reports.flatMap((report) => report.backends.map(benchBackend)),
    isPart: reports.some(({ interrupted }) => interrupted),
    ms: results.reduce((sum, { outcome }) => sum + measuredMs(outcome), 0),
  };
}

function benchBackend({ backend, device, forced, tuning, notRun }: BenchBackendJson): BenchBackend {
  return {
    ...{ backend, device },
    ...present({ forced, tuning, notRun: notRun && { ...notRun, backend, isRequired: false } }),
  };
}

function benchRow(alike: readonly BenchCaseJson[]): BenchRow {
  const [{ results: _, ...facts }] = alike as readonly [BenchCaseJson];
  const prepare = (): never => {
    throw new Error(`${facts.id} was read from a report, which has no data to measure it with`);
  };
  return {
    benchCase: { ...facts, prepare },
    results: alike.flatMap(({ results }) =>
      results.map((each) => ({ backend: each.backend, outcome: outcomeOf(each) })),
    ),
  };
}

function outcomeOf({ status, detail = '', firstCallMs = 0, callsPerRound = 0, roundSeconds = [] }: BenchResultJson) {
  return (
    status === 'measured' ? { status, firstCallMs, callsPerRound, roundSeconds } : { status, detail }
  ) satisfies BenchOutcome;
}

function measuredMs(outcome: BenchOutcome): number {
  if (outcome.status !== 'measured') return 0;
  const { firstCallMs, callsPerRound, roundSeconds } = outcome;
  return firstCallMs + roundSeconds.reduce((sum, seconds) => sum + 1000 * seconds * callsPerRound, 0);
}
