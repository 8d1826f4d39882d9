import { describeHostileCalls } from '../../backend-core/test/hostile-calls.ts';
import { LevelZeroBackend } from '../src/index.ts';

describeHostileCalls(() => LevelZeroBackend.create(), 10);
