import { type CaseResult, findCase, type Params } from '@concord/conformance';

/** This many values of a line are named; more would tell nothing. */
const MOST = 3;

/**
 * One line on the failed cases of an op that have parameters: those, and the check, that all of them have and none of the
 * passing ones.
 *
 * @returns undefined where one case failed only, none passed, or there is nothing of that kind
 */
export function commonGround(cases: readonly CaseResult[]): string | undefined {
  const traits = (wanted: CaseResult['status']): ReadonlySet<string>[] =>
    cases.flatMap(({ id, status }) => (status === wanted ? (traitsOf(id) ?? []) : []));
  const [failing, passing] = [traits('failed'), traits('passed')];
  const [first, ...others] = failing;
  if (first === undefined || others.length === 0 || passing.length === 0) return undefined;
  const common = [...first].filter(
    (trait) => others.every((own) => own.has(trait)) && !passing.some((own) => own.has(trait)),
  );
  if (common.length === 0) return undefined;
  return `${failing.length} failing cases have in common: ${common.slice(0, MOST).join(', ')}; none of the passing`;
}

/** The facts about a case in single words: its check, and each parameter with its value; undefined where it has none. */
function traitsOf(id: string): ReadonlySet<string> | undefined {
  const params: Params = findCase(id)?.params ?? {};
  if (Object.keys(params).length === 0) return undefined;
  const own = Object.entries(params).flatMap(([name, value]) => [
    `${name}=${String(value)}`,
    ...(name === 'trans' ? transposesOf(String(value)) : []),
  ]);
  return new Set([`check ${id.split('/')[1]}`, ...own]);
}

/** The two letters of a product by themselves. */
function transposesOf(letters: string): string[] {
  return [`transposeA=${letters[0] !== 'N'}`, `transposeB=${letters[1] !== 'N'}`];
}
