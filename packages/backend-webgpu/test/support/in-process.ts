import { join } from 'node:path';
import { programsOf } from '../../../backend-core/test/built-package.ts';

const device = process.env['CONCORD_SOFTWARE_VULKAN'] ?? 'lavapipe';

/** Runs a program on the device of these tests. */
export const runProgram = programsOf(join(import.meta.dirname, '../..'), ['WebGpuBackend', 'WebGpuClient'], {
  launcher: device === 'none' ? [] : ['software-devices/vulkan/run.mjs', device],
});
