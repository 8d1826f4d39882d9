// @ts-check

/** The minimum share of faults that the tests must notice. */
export const MIN_SCORE = 0.95;

/**
 * @typedef {import('./judge.mjs').Verdict} Verdict
 * @typedef {{ package: string, killed: number, survived: number }} Row
 */

/**
 * The counts of each package, and those of all of them at the end.
 *
 * @param {readonly Verdict[]} verdicts
 */
export function scoreByPackage(verdicts) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  const all = { package: 'all', killed: 0, survived: 0 };
  for (const { fault, end } of verdicts) {
    const name = fault.file.split('/')[1] ?? '';
    const own = rows.get(name) ?? { package: name, killed: 0, survived: 0 };
    rows.set(name, own);
    for (const row of [own, all]) if (end === 'killed' || end === 'survived') row[end]++;
  }
  return [...[...rows.values()].sort((a, b) => (a.package < b.package ? -1 : 1)), all];
}

/**
 * The share of the faults that was killed; 1 where none was judged.
 *
 * @param {Pick<Row, 'killed' | 'survived'>} row
 */
export function scoreOf({ killed, survived }) {
  return killed + survived === 0 ? 1 : killed / (killed + survived);
}

/**
 * The report for people.
 *
 * @param {readonly Verdict[]} verdicts
 */
export function formatReport(verdicts) {
  const ended = (/** @type {Verdict['end']} */ wanted) => verdicts.filter(({ end }) => end === wanted);
  const lines = ['', 'package             killed  survived   score'];
  for (const row of scoreByPackage(verdicts)) {
    const counts = [`${row.killed}`.padStart(6), `${row.survived}`.padStart(8)];
    lines.push([row.package.padEnd(18), ...counts, percent(scoreOf(row)).padStart(6)].join('  '));
  }
  for (const { fault } of ended('survived')) {
    lines.push('', `survived  ${fault.id}`, `  breaks: ${fault.breaks}`);
    lines.push(`  - ${oneLine(fault.find)}`, `  + ${oneLine(fault.replace)}`);
  }
  for (const { fault, by } of ended('invalid')) lines.push('', `invalid   ${fault.id}: ${by}`);
  return lines.join('\n');
}

/** @param {number} share */
export function percent(share) {
  return `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
}

/** @param {string} text */
function oneLine(text) {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}
