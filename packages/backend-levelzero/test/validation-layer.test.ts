import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LevelZeroBackend } from '../src/index.ts';

// The project backend-levelzero-validated asks for the layer, backend-levelzero does not: conformance runs in both.
it.runIf(process.platform === 'linux')(
  'is checked by the validation layer exactly where that is asked for',
  async () => {
    const backend = new LevelZeroBackend();
    await backend.init();
    const isLoaded = readFileSync('/proc/self/maps', 'utf8').includes('libze_validation_layer');
    await backend.dispose();
    expect(isLoaded).toBe(process.env['ZE_ENABLE_VALIDATION_LAYER'] === '1');
  },
);
