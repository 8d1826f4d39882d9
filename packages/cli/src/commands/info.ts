import { allCases, findCase, selectCases } from '@concord/conformance';
import { type CaseDescription, describeCase } from '@concord/conformance/describe';
import { CommandError, EXIT } from '../command-error.ts';
import type { Output } from '../context.ts';
import { nearIds } from '../near-ids.ts';
import { caseText } from '../output/case-description.ts';
import { colorsFor } from '../output/colors.ts';
import { plural } from '../output/format.ts';
import { toJsonText } from '../output/json-text.ts';

/** The JSON that `--json` prints. */
export type InfoJson = CaseDescription;

/** Runs `concord info`: what a conformance case does. */
export async function info(stdout: Output, id: string, asJson: boolean): Promise<number> {
  const found = findCase(id);
  if (found === undefined) throw noSuchCase(id);
  const description = await describeCase(found).catch((error: unknown) => {
    throw error instanceof RangeError ? noSuchCase(id, error) : error;
  });
  const width = Math.min(100, Math.max(60, stdout.columns ?? 100));
  if (asJson) stdout.write(toJsonText(description satisfies InfoJson));
  else stdout.write(`${caseText(description, colorsFor(stdout), width)}\n`);
  return EXIT.ok;
}

function noSuchCase(id: string, cause?: RangeError): CommandError {
  return new CommandError(`no case "${id}"`, { code: 'NO_SUCH_CASE', hint: hintFor(id), cause });
}

function hintFor(id: string): string {
  const matching = findCase(id) === undefined ? selectCases(id) : [];
  const [first] = matching;
  if (first !== undefined) return `that is ${plural(matching.length, 'case')}; the first is '${first.id}'`;
  const near = nearIds(
    id,
    allCases().map((each) => each.id),
  );
  if (near.length === 0) return 'ids look like gemm/exact/m=17,n=33,k=65,TN; concord conformance --list prints them';
  return `did you mean ${near.map((each) => `'${each}'`).join(' or ')}?`;
}
