import { LevelZeroBackend } from '@concord/backend-levelzero';
import { testOn } from './support/test-on.ts';

testOn(new LevelZeroBackend(), 4);
