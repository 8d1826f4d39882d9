// @ts-check
// `npm run mutate`: plants faults in real source, one at a time, and tells which of them the tests do not notice.
import { parseArgs } from 'node:util';
import { runMain } from './lib/run.mjs';
import { allFaults, faultsIn, record, recordedKills, sampleOf, shuffled } from './mutate/faults.mjs';
import { failingAnyway, judge } from './mutate/judge.mjs';
import { formatReport, MIN_SCORE, scoreByPackage, scoreOf } from './mutate/report.mjs';

const HELP = `usage: npm run mutate -- [options]

Plants faults in the sources, one at a time, and runs the tests that speak for
each. Exits with 1 when less than ${100 * MIN_SCORE} % of them make a test fail.

  --filter TEXT  only faults whose name holds TEXT, such as webgpu/client;
                 may be given again for more
  --faults FILE  the faults of this list instead, in the form of tools/mutate/faults
  --sample N     only N of those that were killed before, others each day
  --jobs N       this many at a time; default: 2
  --record       note which were killed, for samples
  --list         the names of the faults and what they break, and nothing else`;

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      filter: { type: 'string', multiple: true, default: [''] },
      faults: { type: 'string' },
      sample: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      record: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return said(HELP);
  const listed = values.faults === undefined ? allFaults() : faultsIn(values.faults);
  const day = new Date().toISOString().slice(0, 10);
  const sample = values.sample === undefined ? undefined : positive('--sample', values.sample);
  const matching = listed.filter(({ id }) => values.filter.some((text) => id.includes(text)));
  const faults = sample === undefined ? matching : sampleOf(matching, recordedKills(), sample, day);
  if (values.list)
    return said([...faults.map(({ id, breaks }) => `${id}\n  ${breaks}`), `${faults.length} faults`].join('\n'));
  if (faults.length === 0)
    throw new Error(
      `no fault whose name holds ${values.filter.map((text) => JSON.stringify(text)).join(' or ')}; see --list`,
    );
  if (process.platform !== 'linux') throw new Error('mutate reads /proc and runs on software devices: Linux only');

  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop.abort());
  const jobs = positive('--jobs', values.jobs);
  const verdicts = await judgeAll(shuffled(faults, day), jobs, stop);
  console.log(formatReport(verdicts));
  const failing = await failingAnyway(verdicts, stop.signal);
  if (failing.length > 0)
    throw new Error(`\nthese fail without a fault too, so what they killed counts for nothing:\n${failing.join('\n')}`);
  if (values.record) record(verdicts);
  if (verdicts.length < faults.length) {
    console.log(`stopped: ${faults.length - verdicts.length} of ${faults.length} were not judged`);
    return 130;
  }
  const all = /** @type {import('./mutate/report.mjs').Row} */ (scoreByPackage(verdicts).at(-1));
  return scoreOf(all) < MIN_SCORE || verdicts.some(({ end }) => end === 'invalid') ? 1 : 0;
});

/**
 * Judges faults in their order, `jobs` at a time, with a line for each.
 *
 * @param {readonly import('./mutate/faults.mjs').Fault[]} faults
 * @param {number} jobs
 * @param {AbortController} stop
 */
async function judgeAll(faults, jobs, stop) {
  const started = Date.now();
  /** @type {import('./mutate/judge.mjs').Verdict[]} */
  const verdicts = [];
  const rest = [...faults];
  const work = async () => {
    for (let fault = rest.shift(); fault !== undefined && !stop.signal.aborted; fault = rest.shift()) {
      const verdict = await judge(fault, stop.signal);
      if (verdict.end === 'stopped') return;
      verdicts.push(verdict);
      const seconds = Math.round((Date.now() - started) / 1000);
      console.log(`[${verdicts.length}/${faults.length}, ${seconds} s] ${verdict.end}: ${fault.id}: ${verdict.by}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return verdicts;
}

/** @param {string} text */
function said(text) {
  console.log(text);
  return 0;
}

/**
 * @param {string} option
 * @param {string} text
 */
function positive(option, text) {
  const value = Number(text);
  if (!(Number.isSafeInteger(value) && value > 0)) throw new Error(`${option} must be a positive integer, got ${text}`);
  return value;
}
