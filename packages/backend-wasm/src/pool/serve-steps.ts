import type { CodeTable } from './code-table.ts';
import type { runTiles as RunTiles } from './run-tiles.ts';
import type { Answer, Step } from './steps.ts';

/**
 * What the worker does that has its memory to itself: one step after the other, as the messages bring them. Refers to
 * nothing outside of itself: workers get its source.
 *
 * @returns what takes the messages
 */
export function serveSteps(
  codes: CodeTable,
  runTiles: typeof RunTiles,
  memory: WebAssembly.Memory,
  mostBytes: number,
  answer: (message: Answer, transfer: readonly ArrayBuffer[]) => void,
): (steps: readonly Step[]) => void {
  let isFailed = false;

  const grow = (end: number): void => {
    const pages = Math.ceil((Math.min(mostBytes, end) - memory.buffer.byteLength) / 65_536);
    if (pages > 0) memory.grow(pages);
  };

  const take = (step: Step): void => {
    if (step.kind === 'run') {
      const { index, version, bytes } = step;
      const run = codes(index, version, () => bytes as Uint8Array<ArrayBuffer>);
      new Uint32Array(memory.buffer, step.args, step.words.length).set(step.words);
      runTiles(run, step.args, step.tiles, step.scratch);
    } else if (step.kind === 'grow') {
      grow(step.end);
    } else if (step.kind === 'write') {
      new Uint8Array(memory.buffer, step.address).set(step.bytes);
    } else {
      const bytes = new Uint8Array(memory.buffer, step.address, step.length).slice();
      answer({ kind: 'read', id: step.id, bytes }, [bytes.buffer]);
    }
  };

  return (steps) => {
    for (const step of steps) {
      if (isFailed) return;
      try {
        take(step);
      } catch (fault) {
        isFailed = true;
        answer({ kind: 'fault', isMemory: step.kind === 'grow', text: String(fault) }, []);
      }
    }
  };
}
