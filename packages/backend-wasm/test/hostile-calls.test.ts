import { describeHostileCalls } from '../../backend-core/test/hostile-calls.ts';
import { WasmBackend } from '../src/index.ts';

describeHostileCalls(() => WasmBackend.create(), 10);
