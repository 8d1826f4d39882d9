import { expect, it } from 'vitest';
import { FEATURES } from './support/features.ts';
import { needSpirvTools, validationErrors } from './support/spirv-tools.ts';

// backend-levelzero runs them on a device and compares memory.
it.for(FEATURES)('writes $name, and spirv-val accepts it', ({ emit, environment = 'opencl2.2' }, context) => {
  const module = emit();
  needSpirvTools(context);
  expect(validationErrors([module], environment)).toEqual([]);
});

it('asks a spirv-val that refuses what is damaged', (context) => {
  needSpirvTools(context);
  const module = FEATURES[0]?.emit() ?? new Uint32Array();
  expect(validationErrors([module.slice(0, -1)], 'opencl2.2')).toHaveLength(1);
});
