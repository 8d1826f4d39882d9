import { describeHostileCalls } from '../../backend-core/test/hostile-calls.ts';
import { WebGpuBackend } from '../src/index.ts';

describeHostileCalls(() => WebGpuBackend.create(), 10);
