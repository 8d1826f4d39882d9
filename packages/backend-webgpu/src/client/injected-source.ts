import { awaitPlainly, type GpuSource } from './gpu-source.ts';

const keys = new WeakMap<object, string>();
let made = 0;

/** A `GPU` object that the caller made: another Dawn, a browser's, a mock. */
export function injectedSource(gpu: GPU): GpuSource {
  return {
    name: 'injected',
    key: keyOf(gpu),
    open: async () => ({
      found: true,
      gpu,
      awaiting: awaitPlainly,
      explainNoAdapter: () => ({ found: false, reason: 'no-device', message: 'the injected gpu offered no adapter' }),
    }),
  };
}

/** A key for an object that lasts as long as the object. */
export function keyOf(object: object): string {
  let key = keys.get(object);
  if (key === undefined) {
    key = `injected ${++made}`;
    keys.set(object, key);
  }
  return key;
}
