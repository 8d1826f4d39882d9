// The package as built, in Deno, whose WebGPU is wgpu and not Dawn: `npm test` builds it first, `pnpm test:watch` does not.
import { requiredBackends, selectCases } from '@concord/conformance';
import { beforeAll, describe, expect, it } from 'vitest';
import { setUpDeno } from '../../../../software-devices/deno/setup.mjs';
import { type DenoMode, type DenoRun, runInDeno } from '../support/in-deno.ts';

const deno = setUpDeno();
/** Shares of the suite, which is run whole in Node: all of it takes five minutes here (`CONCORD_DENO_SAMPLE=1`). */
const ALL_SAMPLES: readonly (readonly [DenoMode, number])[] = [
  ['own', Number(process.env['CONCORD_DENO_SAMPLE'] ?? 0.15)],
  ['default', 0.05],
];
// `npm test` runs the second, `npm run test:all` the first.
const part = process.env['CONCORD_TEST_PART'];
const SAMPLES = ALL_SAMPLES.filter(([mode]) =>
  part === 'share' ? mode === 'default' : part !== 'rest' || mode === 'own',
);
const TIMEOUT_MS = 400_000;

/** WebGPU's, which every device has. */
const DEFAULT_LIMITS = { maxStorageBufferBindingSize: 2 ** 27, maxComputeInvocationsPerWorkgroup: 256 };

if (deno.path === undefined) {
  it(`not run in Deno: ${deno.reason}`, (context) => {
    if (requiredBackends().includes('webgpu')) expect.fail(`${deno.reason} (CONCORD_REQUIRE names webgpu)`);
    context.skip(deno.reason);
  });
} else {
  const { path } = deno;
  describe.each(SAMPLES)('conformance in Deno, %s limits and features, a share of %f', (mode, sample) => {
    const cases = selectCases({ sample });
    let run: DenoRun;
    beforeAll(async () => {
      run = await runInDeno(path, mode, sample, cases.length);
      console.log(`${run.cases.size} cases in Deno, ${mode} limits, on ${run.device.name} [${run.device.type}]`);
    }, TIMEOUT_MS);

    it('has the limits and features that it is for', () => {
      if (mode === 'default') {
        expect(run.limits).toEqual(DEFAULT_LIMITS);
        expect(run.features).not.toContain('shader-f16');
      }
      expect(run.f16).toEqual({ isUsed: run.features.includes('shader-f16') });
      // The device of these tests has it; on a machine's own it may be missing.
      if (mode === 'own' && run.device.name.includes('llvmpipe')) expect(run.features).toContain('shader-f16');
    });

    it('runs exactly the cases that Node selects', () => {
      expect([...run.cases.keys()]).toEqual(cases.map(({ id }) => id));
    });

    for (const { id } of cases) {
      // Nothing is unsupported on WebGPU, so neither is that a way to pass.
      it(id, () => {
        const { status, detail } = run.cases.get(id) ?? { status: 'not run' };
        if (status !== 'passed') expect.fail(detail ?? status);
      });
    }
  });
}
