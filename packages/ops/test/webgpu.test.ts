import { WebGpuBackend } from '@concord/backend-webgpu';
import { testOn } from './support/test-on.ts';

testOn(new WebGpuBackend(), 8, ['dense', 'padded']);
