import { randomNormal, randomUniform, type Tensor } from '@concord/ops';
import { elementType, type ElementType, type HostTensor, hostTensor } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import { deviceType } from '../run/value.ts';
import { elements } from './elements.ts';
import type { Operator, Operators } from './operator.ts';

/** Other numbers at each run, where no seed is given. */
function seedOf(call: Call): number {
  const seed = call.attribute('seed');
  return seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Math.abs(Math.trunc(Number(seed))) % 2 ** 32;
}

function typeOf(call: Call): ElementType {
  if (call.attribute('dtype') !== undefined) return elementType('attribute dtype', call.int('dtype'));
  return call.has(0) ? call.type(0) : 'float32';
}

function random(call: Call, kind: 'uniform' | 'normal', shape: readonly number[], type = typeOf(call)): Results {
  const options = { dtype: deviceType(type, call.context.float64), seed: seedOf(call) };
  const [a, b] = kind === 'uniform' ? (['low', 'high'] as const) : (['mean', 'scale'] as const);
  const [x, y] = [call.float(a, 0), call.float(b, 1)];
  const drawn =
    kind === 'uniform'
      ? randomUniform(call.backend, shape, { ...options, low: x, high: y })
      : randomNormal(call.backend, shape, { ...options, mean: x, std: y });
  return call.typed(drawn, type);
}

const drawn = (kind: 'uniform' | 'normal'): Operator => ({
  isRandom: true,
  run: (call) => random(call, kind, call.has(0) ? call.dims(0) : (call.list('shape') ?? [])),
});

/** `a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n)`, of n places or between n of them. */
const cosines = (a0: number, a1: number, a2 = 0): Operator => ({
  host: (call): HostTensor => {
    const size = call.scalar(0);
    const period = call.int('periodic', 1) === 1 ? size : size - 1;
    const values = Array.from({ length: size }, (_, i) => {
      const angle = (2 * Math.PI * i) / period;
      return a0 - a1 * Math.cos(angle) + a2 * Math.cos(2 * angle);
    });
    return hostTensor(elementType('attribute output_datatype', call.int('output_datatype', 1)), [size], values);
  },
});

/** Operators that make numbers. */
export const CREATE: Operators = {
  RandomUniform: drawn('uniform'),
  RandomUniformLike: drawn('uniform'),
  RandomNormal: drawn('normal'),
  RandomNormalLike: drawn('normal'),
  Bernoulli: {
    isRandom: true,
    run: (call) => {
      call.floats(0);
      const uniform = randomUniform(call.backend, call.dims(0), { seed: seedOf(call) });
      const type = typeOf(call);
      const hits = (dtype: Tensor['dtype']): Tensor => {
        const isFloat = dtype === 'f32' || dtype === 'f16' || dtype === 'bf16';
        return elements(
          `Bernoulli ${isFloat}`,
          (k, u, p) => (isFloat ? k.toF32(k.lt(u, p)) : k.lt(u, p)),
          [uniform, call.x(0)],
          dtype,
        );
      };
      const dtype = deviceType(type, call.context.float64);
      return dtype === 'i32' ? call.refuse(`${type} of Bernoulli`) : call.typed(hits(dtype), type);
    },
  },
  HannWindow: cosines(0.5, 0.5),
  HammingWindow: cosines(25 / 46, 21 / 46),
  BlackmanWindow: cosines(0.42, 0.5, 0.08),
};
