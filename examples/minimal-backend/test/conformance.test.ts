import { describeConformance } from '@concord/conformance/vitest';
import { MinimalBackend } from '../src/index.ts';

await describeConformance(() => new MinimalBackend());
