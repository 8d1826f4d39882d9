import { LevelZeroBackend } from '@concord/backend-levelzero';
import { FEW, testOn } from './support/test-on.ts';

testOn(new LevelZeroBackend(), FEW);
