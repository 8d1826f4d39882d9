import { mkdirSync, writeFileSync } from 'node:fs';
import type { Outcome } from './peer.ts';

const FOLDER = new URL('../results/', import.meta.url);

/** Writes a file below `results/`. */
export function saveResult(file: string, text: string): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL(file, FOLDER), text);
}

/** Writes outcomes with every round, and with what they were taken on, to `results/<name>.json`. */
export function saveOutcomes(
  name: string,
  conditions: Readonly<Record<string, unknown>>,
  outcomes: readonly Outcome[],
): void {
  const results = outcomes.map((outcome) => ({
    case: outcome.case.name,
    ...(outcome.case.flops === undefined ? { bytes: outcome.case.bytes } : { flops: outcome.case.flops }),
    peer: outcome.peer.name,
    version: outcome.peer.version,
    seconds: outcome.seconds.map((seconds) => Number(seconds.toPrecision(5))),
    ...(outcome.failure === undefined ? {} : { failure: outcome.failure }),
  }));
  // One line per list of rounds, as a reader and the formatter want it.
  const text = JSON.stringify({ ...conditions, results }, undefined, 2).replaceAll(/\[[-\s\d.,e]+\]/g, (list) =>
    list.replaceAll(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'),
  );
  saveResult(`${name}.json`, `${text}\n`);
}
