// @ts-check
/**
 * Judges faults in their order, `jobs` at a time, with a line for each. An error ends it, as the caller's signal does;
 * earlier verdicts stay.
 *
 * @param {readonly import('./plant.mjs').NamedFault[]} faults
 * @param {(fault: import('./plant.mjs').NamedFault) => Promise<import('./judge.mjs').Verdict>} judge
 * @param {{ jobs: number, stop: AbortController, print?: (line: string) => void }} options
 * @returns {Promise<{ verdicts: import('./judge.mjs').Verdict[], error: Error | undefined }>}
 */
export async function runAll(faults, judge, { jobs, stop, print = console.log }) {
  const started = Date.now();
  /** @type {import('./judge.mjs').Verdict[]} */
  const verdicts = [];
  /** @type {Error | undefined} */
  let error;
  const rest = [...faults];
  const work = async () => {
    for (let fault = rest.shift(); fault !== undefined && !stop.signal.aborted; fault = rest.shift()) {
      try {
        const verdict = await judge(fault);
        if (verdict.end === 'stopped') return;
        verdicts.push(verdict);
        print(lineOf(verdict, verdicts.length, faults.length, Date.now() - started));
      } catch (cause) {
        error ??= cause instanceof Error ? cause : new Error(String(cause));
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return { verdicts, error };
}

/**
 * @param {import('./judge.mjs').Verdict} verdict
 * @param {number} done
 * @param {number} all
 * @param {number} milliseconds
 */
function lineOf({ fault, end, by, cpuSeconds }, done, all, milliseconds) {
  const rate = (done / (milliseconds / 60_000)).toFixed(1);
  const head = `[${done}/${all}, ${rate} a minute] ${end}: ${fault.id} (${cpuSeconds.toFixed(0)} s of CPU)`;
  return end === 'killed' || by === '' ? head : `${head}: ${by}`;
}
