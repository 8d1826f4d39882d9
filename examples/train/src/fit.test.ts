import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { runCaptured } from '@concord/example-command/testing';
import { grad } from '@concord/grad';
import { tensor, type Tensor } from '@concord/ops';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fit } from './fit.ts';
import { lossOf, newNetwork } from './network.ts';
import { runProgram } from './program.ts';

const SHAPE = { batch: 64, hidden: 16, learningRate: 0.02, seed: 3 };
let onCpu: readonly number[] | undefined;

describe.each([
  ['cpu', () => new CpuBackend()],
  ['webgpu', () => new WebGpuBackend()],
  ['level-zero', () => new LevelZeroBackend()],
])('on %s', (_, create) => {
  const backend: ComputeBackend = create();
  beforeAll(() => backend.init());
  afterAll(async () => {
    expect(backend.memory().liveAllocations).toBe(0);
    await backend.dispose();
  });

  test('the loss goes down, as on the cpu', async () => {
    const { losses } = await fit(backend, { ...SHAPE, steps: 30 });
    onCpu ??= losses;
    expect(losses.at(-1)).toBeLessThan(0.7 * (losses[0] as number));
    for (const [step, loss] of losses.entries()) expect(loss).toBeCloseTo(onCpu[step] as number, 2);
  });
});

describe('the arithmetic', () => {
  const backend = new CpuBackend();
  beforeAll(() => backend.init());
  afterAll(() => backend.dispose());

  test('gradients are the slopes of the loss', async () => {
    const network = newNetwork(backend, 2, 5, 3, 1);
    const x = tensor(backend, [0.3, -0.7, 0.9, 0.2, -0.4, 0.8, 0.1, 0.6], [4, 2]);
    const classes = tensor(backend, Uint32Array.of(0, 2, 1, 2));
    const lossNow = async (): Promise<number> => {
      using loss = lossOf(network, x, classes);
      return loss.item();
    };
    const gradients = Object.values(grad(lossOf)(network, x, classes)) as Tensor[];
    const weights = Object.values(network) as Tensor[];
    for (const [index, weight] of weights.entries()) {
      const slopes = await (gradients[index] as Tensor).toArray();
      const values = Float32Array.from(await weight.toArray());
      for (let i = 0; i < values.length; i++) {
        const at = async (shift: number): Promise<number> => {
          const moved = Float32Array.from(values);
          moved[i] = (moved[i] as number) + shift;
          backend.copyHtod(weight.ptr, moved);
          return lossNow();
        };
        const slope = ((await at(1e-2)) - (await at(-1e-2))) / 2e-2;
        expect(slope, `weight ${index}, element ${i}`).toBeCloseTo(slopes[i] as number, 2);
      }
      backend.copyHtod(weight.ptr, values);
    }
    for (const each of [...gradients, ...weights, x, classes]) each.dispose();
  });
});

test('the program draws the loss, and says what was learnt', async () => {
  const { code, stdout, stderr } = await runCaptured(runProgram, ['--backend', 'cpu', '--steps', '40']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /┤[^]*\n\nLoss {6}1\.\d+ to 0\.\d+ in 40 steps, \d+ a second\nAccuracy {2}[\d.]+% of the points/,
  );
});

test('as JSON, the loss of each step; wrong arguments are refused; Ctrl-C ends it', async () => {
  const { stdout } = await runCaptured(runProgram, ['--backend', 'cpu', '--steps', '3', '--json']);
  expect((JSON.parse(stdout) as { losses: unknown[] }).losses).toHaveLength(3);
  const { code, stderr } = await runCaptured(runProgram, ['--steps', '0']);
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It must be an integer from 1 to 2147483647.') as string,
  });
  const aborted = await runCaptured(runProgram, ['--backend', 'cpu'], AbortSignal.abort());
  expect(aborted.code).toBe(130);
});
