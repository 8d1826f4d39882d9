import { expect, it } from 'vitest';
import type { Step } from './serve-steps.ts';
import { StepsMachine } from './steps-machine.ts';

/** A machine whose worker is played by the test. */
function machineAlone() {
  const asked: number[] = [];
  let keepsAlive = false;
  const worker = {
    post: (message: unknown) => {
      for (const step of message as readonly Step[]) if (step.kind === 'read') asked.push(step.id);
    },
    listen: () => undefined,
    ref: () => void (keepsAlive = true),
    unref: () => void (keepsAlive = false),
    isGone: () => false,
    terminate: () => Promise.resolve(),
  };
  const machine = new StepsMachine(
    worker,
    { firstBytes: 2 ** 16, maxBytes: 2 ** 20 },
    { hasFma: false, isShared: false, threads: 1 },
    { onFailure: () => undefined, onLost: () => undefined },
  );
  const answer = (): void => {
    const id = asked.shift() as number;
    machine.onAnswer({ kind: 'read', id, bytes: new Uint8Array(4) });
  };
  return { machine, asked, answer, keepsAlive: () => keepsAlive };
}

const WAITS: readonly (readonly [string, (machine: StepsMachine) => Promise<void>])[] = [
  ['reads', (machine) => machine.read(1024, 4, () => undefined)],
  ['waits for all work', (machine) => machine.finish()],
];

it.each(WAITS.flatMap(([what, wait]) => [1, 2, 3].map((count) => [count, what, wait] as const)))(
  'the worker keeps the process alive during %d %s, and no longer',
  async (count, _, wait) => {
    const { machine, answer, keepsAlive } = machineAlone();
    // The second time is like the first.
    for (let round = 0; round < 2; round++) {
      const waits = Array.from({ length: count }, () => wait(machine));
      for (let left = count; left > 0; left--) {
        expect(keepsAlive(), `${left} left`).toBe(true);
        answer();
      }
      expect(keepsAlive()).toBe(false);
      await Promise.all(waits);
    }
  },
);

it('a worker that failed keeps the process alive no longer, whatever was asked', async () => {
  const { machine, keepsAlive } = machineAlone();
  const waits = WAITS.map(([, wait]) => wait(machine));
  machine.onAnswer({ kind: 'fault', isMemory: false, text: 'unreachable' });
  expect(keepsAlive()).toBe(false);
  for (const each of await Promise.allSettled(waits)) expect(each.status).toBe('rejected');
  await expect(machine.finish()).rejects.toMatchObject({ code: 'DEVICE_ERROR' });
  expect(keepsAlive()).toBe(false);
});
