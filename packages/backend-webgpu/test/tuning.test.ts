import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeTuning } from '../../variants/test/describe-tuning.ts';
import { WebGpuBackend } from '../src/index.ts';
import { VERSION } from '../src/version.ts';

describeTuning('webgpu', VERSION, (options) => new WebGpuBackend(options));

it('says its version', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
  expect(manifest).toHaveProperty('version', VERSION);
});
