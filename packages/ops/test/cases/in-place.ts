import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { add, run, transpose } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

/** A step of Loshchilov, Hutter, Decoupled weight decay regularization, 2019, with its number and its rate on the device. */
const ADAMW = defineKernel(
  'adamW',
  {
    inputs: { p: 'f32', g: 'f32', m: 'f32', v: 'f32', step: 'u32', rate: 'f32' },
    params: { a: 'f32', b: 'f32', decay: 'f32' },
  },
  ({ p, g, m, v, step, rate, a, b, decay }, k) => {
    const mean = k.add(k.mul(a, m), k.mul(k.sub(1, a), g));
    const square = k.add(k.mul(b, v), k.mul(k.sub(1, b), k.mul(g, g)));
    const t = k.toF32(step);
    const whole = (sum: typeof p, of: typeof a): typeof p => k.div(sum, k.sub(1, k.pow(k.spread(of), t)));
    const change = k.div(whole(mean, a), k.add(k.sqrt(whole(square, b)), 1e-8));
    return { p: k.sub(k.sub(p, k.mul(k.mul(rate, decay), p)), k.mul(rate, change)), m: mean, v: square };
  },
) as Kernel;

const [P, G] = [numbers(12, 91), numbers(12, 92)] as const;

function trained(steps: number): number[][] {
  const [p, m, v] = [[...P], P.map(() => 0), P.map(() => 0)] as [number[], number[], number[]];
  for (let t = 1; t <= steps; t++)
    for (const [i, g] of G.entries()) {
      m[i] = 0.9 * (m[i] as number) + 0.1 * g;
      v[i] = 0.99 * (v[i] as number) + 0.01 * g * g;
      const change = m[i] / (1 - 0.9 ** t) / (Math.sqrt(v[i] / (1 - 0.99 ** t)) + 1e-8);
      p[i] = (p[i] as number) * (1 - 0.1 * 0.05) - 0.1 * change;
    }
  return [p, m, v];
}

/** Kernels whose outputs have names of inputs. */
export const inPlaceCases: OpCases = {
  'steps of AdamW, whose count and rate are tensors, of a view': {
    run: (b) => {
      const [p, g] = [transpose(tensor(b, P, [3, 4])), transpose(tensor(b, G, [3, 4]))];
      const [m, v] = [
        transpose(
          tensor(
            b,
            P.map(() => 0),
            [3, 4],
          ),
        ),
        tensor(
          b,
          P.map(() => 0),
          [4, 3],
        ),
      ];
      const [step, rate] = [tensor(b, new Uint32Array([0])), tensor(b, 0.1)];
      for (let t = 0; t < 3; t++) {
        add(step, 1, { out: step });
        run(ADAMW, { p, g, m, v, step, rate }, { params: { a: 0.9, b: 0.99, decay: 0.05 } });
      }
      return [transpose(p), transpose(m), transpose(v)];
    },
    want: trained(3),
  },
};
