import { WebGpuBackend } from '@concord/backend-webgpu';
import { FEW, testOn } from './support/test-on.ts';

testOn(new WebGpuBackend(), FEW);
