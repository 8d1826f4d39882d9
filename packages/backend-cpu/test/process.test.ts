import { join } from 'node:path';
import { describeProcesses, programsOf } from '../../backend-core/test/built-package.ts';

describeProcesses(programsOf(join(import.meta.dirname, '..'), ['CpuBackend']), 'new CpuBackend()');
