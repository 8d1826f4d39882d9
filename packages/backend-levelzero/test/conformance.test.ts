import { describeConformance } from '@concord/conformance/vitest';
import { LevelZeroBackend } from '../src/index.ts';

await describeConformance(() => new LevelZeroBackend(), { sample: Number(process.env['CONCORD_SAMPLE'] ?? 1) });
