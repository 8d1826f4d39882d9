import type { BackendRun, ConformanceRun } from '../conformance/backend-run.ts';
import type { ConformanceJson } from '../conformance/conformance-json.ts';
import { EXIT } from '../exit-codes.ts';
import { verdictOf } from '../html/backend-card.ts';
import { groupBy } from '../group-by.ts';
import { uniqueLabels } from './labels.ts';
import type { ReportFile } from './report-file.ts';

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
    ...(variants === undefined ? {} : { variants }),
    ...(variantFailures === undefined ? {} : { variantFailures }),
    ...(notRun === undefined ? {} : { notRun: { ...notRun, backend, isRequired: false } }),
  };
  const isFailure = verdictOf(run).style === 'fail';
  return { ...run, exitCode: isFailure ? EXIT.failed : notRun === undefined ? EXIT.ok : EXIT.unavailable };
}
