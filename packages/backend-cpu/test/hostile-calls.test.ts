import { describeHostileCalls } from '../../backend-core/test/hostile-calls.ts';
import { CpuBackend } from '../src/index.ts';

describeHostileCalls(() => CpuBackend.create(), 200);
