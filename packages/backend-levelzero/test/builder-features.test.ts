import { afterAll, beforeAll, expect, it } from 'vitest';
import { FEATURES } from '../../spirv-builder/test/support/features.ts';
import { LevelZeroBackend } from '../src/levelzero-backend.ts';

// What spirv-builder can write, run on a device: its own tests only ask spirv-val.

const backend = new LevelZeroBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

it.each(FEATURES)('$name', async ({ emit, before, after }) => {
  const data = backend.alloc(4 * before.length);
  backend.copyHtod(data, new Uint32Array(before));
  backend.native.launch(emit(), 'feature', [data], [1, 1, 1]);
  const memory = new Uint32Array(after.length);
  await backend.copyDtoh(memory, data);
  backend.free(data);
  expect([...memory]).toEqual(after);
});
