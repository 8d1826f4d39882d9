import { cast, randomNormal, randomUniform, type Tensor } from '@concord/ops';
import { elementType, type ElementType, type HostTensor, hostTensor } from '../graph/host-tensor.ts';
import type { Call } from '../run/call.ts';
import { deviceType } from '../run/value.ts';
import { elements } from './elements.ts';
import type { Operator, Operators } from './operator.ts';

/** Other numbers at each run, where no seed is given. */
function seedOf(call: Call): number {
  const seed = call.attribute('seed');
  return seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Math.abs(Math.trunc(Number(seed))) % 2 ** 32;
}

/** The element type of an attribute, or else that of input 0, or float32. */
export function wantedType(call: Call): ElementType {
  if (call.attribute('dtype') !== undefined) return elementType('attribute dtype', call.int('dtype'));
  return call.has(0) ? call.type(0) : 'float32';
}

interface Drawing {
  readonly dtype: Tensor['dtype'];
  readonly seed: number;
}

const drawn = (draw: (call: Call, shape: readonly number[], options: Drawing) => Tensor): Operator => ({
  isRandom: true,
  run: (call) => {
    const type = wantedType(call);
    const shape = call.has(0) ? call.dims(0) : (call.list('shape') ?? []);
    return call.typed(draw(call, shape, { dtype: deviceType(type, call.context.float64), seed: seedOf(call) }), type);
  },
});

const uniform = drawn((call, shape, options) =>
  randomUniform(call.backend, shape, { ...options, low: call.float('low', 0), high: call.float('high', 1) }),
);

const normal = drawn((call, shape, options) =>
  randomNormal(call.backend, shape, { ...options, mean: call.float('mean', 0), std: call.float('scale', 1) }),
);

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
  RandomUniform: uniform,
  RandomUniformLike: uniform,
  RandomNormal: normal,
  RandomNormalLike: normal,
  Bernoulli: drawn((call, shape, { dtype, seed }) => {
    call.floats(0);
    const places = [randomUniform(call.backend, shape, { seed }), call.x(0)];
    return cast(
      elements('Bernoulli', (k, u, p) => k.toF32(k.lt(u, p)), places, 'f32'),
      dtype,
    );
  }),
  HannWindow: cosines(0.5, 0.5),
  HammingWindow: cosines(25 / 46, 21 / 46),
  BlackmanWindow: cosines(0.42, 0.5, 0.08),
};
