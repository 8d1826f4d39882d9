import { readFileSync } from 'node:fs';
import { OP_NAMES, selectBackend } from '@concord/backend-core';
import { runConformance } from '@concord/conformance';
import { expect, it } from 'vitest';
import { minimal, MinimalBackend } from '../src/index.ts';

it('is one file under 120 lines', () => {
  const source = readFileSync(new URL('../src/index.ts', import.meta.url), 'utf8');
  expect(source.trimEnd().split('\n').length).toBeLessThan(120);
});

it('is found, tried out and picked by the registry', async () => {
  const { backend, attempts } = await selectBackend([minimal()], { require: [{ op: 'gemm' }] });
  expect(attempts).toMatchObject([{ provider: 'minimal', outcome: 'selected' }]);
  await backend.dispose();
});

it('declares what it lacks, each with a reason, and nothing that it has', async () => {
  const { ok, failed, cases } = await runConformance(() => new MinimalBackend(), { sample: 0.05 });
  expect({ ok, failed }).toEqual({ ok: true, failed: 0 });
  const backend = await MinimalBackend.create();
  const lacking = OP_NAMES.filter((op) => !backend.capabilities.ops.includes(op));
  expect(lacking).toEqual(['gemmF16', 'conv2dForward', 'attention', 'topK']);
  for (const { op, status, detail } of cases.filter((result) => result.status === 'unsupported')) {
    expect({ op, status, detail }).toMatchObject({
      detail: expect.stringMatching(/^minimal does not implement|dtype b?f16|is not implemented on minimal$/),
    });
  }
  await backend.dispose();
});
