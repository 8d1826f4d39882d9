import { CpuBackend } from '@concord/backend-cpu';
import { testOn } from './support/test-on.ts';

testOn(new CpuBackend(), 300, ['dense', 'spread', 'padded', 'reversed']);
