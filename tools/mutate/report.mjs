// @ts-check
import { packageOf } from './plant.mjs';

/** The minimum share of faults that the tests must notice. */
export const MIN_SCORE = 0.95;

/**
 * @typedef {import('./judge.mjs').Verdict} Verdict
 * @typedef {{ package: string, killed: number, survived: number, explained: number }} Row
 */

/**
 * The counts of each package, and those of all of them at the end.
 *
 * @param {readonly Verdict[]} verdicts
 * @returns {Row[]}
 */
export function scoreByPackage(verdicts) {
  const names = [...new Set(verdicts.map(({ fault }) => packageOf(fault)))].sort();
  return [
    ...names.map((name) =>
      rowOf(
        name,
        verdicts.filter(({ fault }) => packageOf(fault) === name),
      ),
    ),
    rowOf('all', verdicts),
  ];
}

/**
 * @param {string} name
 * @param {readonly Verdict[]} verdicts
 * @returns {Row}
 */
function rowOf(name, verdicts) {
  const count = (/** @type {(verdict: Verdict) => boolean} */ test) => verdicts.filter(test).length;
  return {
    package: name,
    killed: count(({ end }) => end === 'killed'),
    survived: count(({ end, fault }) => end === 'survived' && fault.equivalent === undefined),
    explained: count(({ end, fault }) => end === 'survived' && fault.equivalent !== undefined),
  };
}

/**
 * The share of the faults that was killed, of those that a program can see; 1 where none was judged.
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
 * @returns {string}
 */
export function formatReport(verdicts) {
  const lines = ['', 'package             killed  survived  equivalent   score'];
  for (const row of scoreByPackage(verdicts)) {
    const { killed, survived, explained } = row;
    const numbers = [pad(killed, 6), pad(survived, 8), pad(explained, 10)];
    lines.push(`${row.package.padEnd(18)}  ${numbers.join('  ')}  ${percent(scoreOf(row)).padStart(6)}`);
  }
  for (const { fault, by } of verdicts.filter(({ end }) => end === 'survived')) {
    lines.push('', `survived  ${fault.id}${by === '' ? '' : ` (${by})`}`, `  breaks: ${fault.breaks}`);
    if (fault.equivalent !== undefined) lines.push(`  equivalent: ${fault.equivalent}`);
    else lines.push(`  - ${oneLine(fault.find)}`, `  + ${oneLine(fault.replace)}`);
  }
  for (const { fault, by } of verdicts.filter(({ end }) => end === 'invalid')) {
    lines.push('', `invalid   ${fault.id}: ${by}`);
  }
  for (const { fault } of verdicts.filter(({ end, fault }) => end === 'killed' && fault.equivalent !== undefined)) {
    lines.push('', `killed, though the list says that no program can see it: ${fault.id}`);
  }
  return lines.join('\n');
}

/**
 * @param {number} value
 * @param {number} width
 */
function pad(value, width) {
  return String(value).padStart(width);
}

/** @param {number} share */
export function percent(share) {
  return `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
}

/** @param {string} text */
function oneLine(text) {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}
