import { expect, it } from 'vitest';
import { FEATURES } from './support/features.ts';
import { hasSpirvTools, validationErrors } from './support/spirv-tools.ts';

// backend-levelzero runs them on a device and compares memory.
it.each(FEATURES)('writes $name, and spirv-val accepts it', ({ emit, environment = 'opencl2.2' }) => {
  const module = emit();
  if (hasSpirvTools) expect(validationErrors([module], environment)).toEqual([]);
});

it('has spirv-val to ask (package spirv-tools)', (context) => {
  if (!hasSpirvTools) context.skip('spirv-val is not installed: the modules above were written, not validated');
  const module = FEATURES[0]?.emit() ?? new Uint32Array();
  expect(validationErrors([module.slice(0, -1)], 'opencl2.2')).toHaveLength(1);
});
