import { mkdirSync, writeFileSync } from 'node:fs';
import { cases } from './cases.ts';
import { machine } from './machine.ts';
import { measureCase } from './measure.ts';
import type { Outcome, Peer } from './peer.ts';
import { concord } from './peers/concord.ts';
import { handTiled } from './peers/hand-tiled.ts';
import { mlMatrix } from './peers/ml-matrix.ts';
import { ndarrayGemm } from './peers/ndarray-gemm.ts';
import { numericJs } from './peers/numeric.ts';
import { stdlib } from './peers/stdlib.ts';
import { tfjsCpu } from './peers/tfjs-cpu.ts';
import { formatCase } from './table.ts';

const PEERS: readonly Peer[] = [concord, handTiled, tfjsCpu, numericJs, mlMatrix, ndarrayGemm, stdlib];

/** Times the CPU backend beside its peers, prints a table per case and writes `results/cpu.json` (not when quick). */
export async function benchCpu(quick: boolean): Promise<readonly Outcome[]> {
  const rounds = quick ? 3 : 9;
  const warmups = quick ? 0 : 2;
  const host = machine();
  console.log(`${host['cpu']}, ${host['platform']}, Node ${host['node']}; one thread, ${rounds} rounds\n`);
  const outcomes: Outcome[] = [];
  for (const testCase of cases(quick)) {
    const ofCase = await measureCase(testCase, PEERS, rounds, warmups);
    console.log(`${formatCase(ofCase)}\n`);
    outcomes.push(...ofCase);
  }
  if (!quick) save(host, outcomes);
  return outcomes;
}

function save(host: Record<string, string | number>, outcomes: readonly Outcome[]): void {
  const results = outcomes.map((outcome) => ({
    case: outcome.case.name,
    flops: outcome.case.flops,
    peer: outcome.peer.name,
    version: outcome.peer.version,
    seconds: outcome.seconds.map((seconds) => Number(seconds.toPrecision(5))),
    ...(outcome.failure === undefined ? {} : { failure: outcome.failure }),
  }));
  const folder = new URL('../results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  // One line per list of rounds, as a reader and the formatter want it.
  const text = JSON.stringify({ machine: host, results }, undefined, 2).replaceAll(/\[[\s\d.,]+\]/g, (list) =>
    list.replaceAll(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'),
  );
  writeFileSync(new URL('cpu.json', folder), `${text}\n`);
}
