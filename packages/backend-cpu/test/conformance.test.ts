import { describeConformance } from '@concord/conformance/vitest';
import { CpuBackend } from '../src/index.ts';

await describeConformance(() => new CpuBackend());
