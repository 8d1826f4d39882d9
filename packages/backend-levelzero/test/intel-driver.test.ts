// The backend on Intel's own driver and compiler, as each GPU that software-devices/intel-driver has. Kernels are built and
// launched there, and do not run, so nothing here reads what they write.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { requiredBackends } from '@concord/conformance';
import { describe, expect, it } from 'vitest';
import { readyDriver } from '../../../software-devices/intel-driver/lib/cache.mjs';
import { unobtainable } from '../../../software-devices/intel-driver/lib/make.mjs';
import { type Product, productNames } from '../../../software-devices/intel-driver/lib/products.mjs';
import { runProgram } from './support/in-process.ts';
import { buildKernels, withIntelDriver } from './support/intel-kernels.mjs';
import { INTEL_TRAITS } from './support/intel-traits.mjs';
import { allKernels } from './support/run-samples.mjs';

/** From an empty cache, beside other tests. */
const MINUTES = 4;
const SET_UP = 'it is not set up; run: node software-devices/intel-driver/setup.mjs';
const missing = readyDriver() === undefined ? (unobtainable() ?? SET_UP) : undefined;

if (missing === undefined) {
  describe.each(productNames)("Intel's driver as %s", describeProduct);
  describe("Intel's compiler 1.0.12504", describeCompiler);
} else {
  it(`not run on Intel's driver: ${missing}`, (context) => {
    if (requiredBackends().includes('level-zero')) expect.fail(`${missing} (CONCORD_REQUIRE names level-zero)`);
    context.skip(missing);
  });
}

/** Runs a program on a product; what it prints is JSON. */
async function answerOf(product: Product, source: string): Promise<unknown> {
  const ended = await withIntelDriver(product, (env) => runProgram(source, env));
  expect(ended).toMatchObject({ code: 0, signal: null });
  return JSON.parse(ended.stdout);
}

function describeProduct(product: Product): void {
  it('is found, with the traits that are noted', async () => {
    const { info, traits } = (await answerOf(
      product,
      `const client = await LevelZeroClient.open();
      const { preferences, ...traits } = client.traits;
      console.log(JSON.stringify({ info: client.deviceInfo, traits }));
      await client.dispose();`,
    )) as { info: object; traits: object };
    expect(info).toMatchObject({
      vendor: 'intel',
      type: product === 'skl' || product === 'tgl' ? 'integrated' : 'discrete',
      driver: expect.stringMatching(/^Level Zero 1\.3, driver 1\.3\.\d+$/),
      subDevices: product === 'pvc2' ? 2 : 0,
    });
    // JSON has no undefined.
    expect(traits).toEqual(JSON.parse(JSON.stringify(INTEL_TRAITS[product])));
  });

  it('takes allocations, writes, copies, fills and reads of any size and place, over many lists, and disposal', async () => {
    const answer = await answerOf(
      product,
      `const client = await LevelZeroClient.open();
      const { maxAllocationBytes: most } = client.traits;
      const failures = [];
      const attempt = async (what, action) => {
        try { await action(); } catch (error) { failures.push(what + ': ' + error.code); }
      };
      for (const bytes of [1, 4096, 2 ** 20, 2 ** 31, most, most + 1])
        await attempt('allocate ' + (bytes - most), () => client.deallocate(client.allocate(bytes).id));
      const buffer = client.allocate(2 ** 20);
      const span = (byteOffset, byteLength) => ({ buffer, byteOffset, byteLength });
      for (const [place, size] of [[0, 2 ** 20], [13, 3], [4099, 1000]]) {
        await attempt('write', () => client.write(span(place, size), new Uint8Array(size)));
        await attempt('fill', () => client.fill(span(place, size), 7));
        await attempt('read', () => client.read(span(place, size), ({ byteLength }) => {
          if (byteLength !== size) failures.push('read ' + byteLength + ' of ' + size);
        }));
      }
      for (let i = 0; i < 300; i++) client.copy(span(0, 1000), span(4099, 1000));
      await attempt('finish', () => client.finish());
      const { live } = client.memory();
      await attempt('dispose', () => client.dispose());
      console.log(JSON.stringify({ live, failures }));`,
    );
    expect(answer).toEqual({ live: 1, failures: ['allocate 1: OUT_OF_MEMORY'] });
  });

  it(
    'builds every kernel, makes its kernel object and launches it',
    async () => {
      const names = allKernels(INTEL_TRAITS[product]).map(({ name }) => name);
      const kernels = await buildKernels(product, names);
      expect(kernels).toHaveLength(names.length);
      const failed = kernels.filter(({ error }) => error !== undefined);
      expect(failed.map(({ name, error }) => `${name}: ${error}`)).toEqual([]);
    },
    MINUTES * 60_000,
  );

  if (product !== 'pvc2') return;
  it('opens each tile as a device', async () => {
    const answer = await answerOf(
      product,
      `const clients = await Promise.all([0, 1].map((subDevice) => LevelZeroClient.open({ subDevice })));
      const spans = clients.map((client) => ({ buffer: client.allocate(4096), byteOffset: 0, byteLength: 4096 }));
      clients.forEach((client, index) => client.fill(spans[index], 7));
      for (const client of clients) await client.finish();
      console.log(JSON.stringify(clients.map(({ traits }) => traits.computeUnits)));
      for (const client of clients) await client.dispose();`,
    );
    expect(answer).toEqual([INTEL_TRAITS.pvc.computeUnits, INTEL_TRAITS.pvc.computeUnits]);
  });
}

/**
 * Valid SPIR-V that this compiler, Debian 12's of 2022, does not take. No kernel may have it while such drivers are in use;
 * where a newer compiler takes it, what avoids it may go.
 */
function describeCompiler(): void {
  const load = (name: string): string => {
    const file = join(import.meta.dirname, 'support/refused', `${name}.spvasm`);
    const { stdout, status, stderr } = spawnSync('spirv-as', ['--target-env', 'spv1.0', file, '-o', '-']);
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
    return `const client = await LevelZeroClient.open();
      const bytes = Uint8Array.from(Buffer.from('${stdout.toString('base64')}', 'base64'));
      try { client.load(new Uint32Array(bytes.buffer)); console.log('built'); } catch (error) { console.log(error.message); }
      await client.dispose();`;
  };

  it.each(['logical-not', 'logical-equal'])('ends the process on %s', async (name) => {
    const { code, stdout, stderr } = await withIntelDriver('dg2', (env) => runProgram(load(name), env));
    // By a signal, or by an exit in the middle of the call.
    expect({ isFine: code === 0, stdout, stderr }).toEqual({ isFine: false, stdout: '', stderr: '' });
  });

  it('does not build array-length, and does not say why', async () => {
    const { stdout } = await withIntelDriver('dg2', (env) => runProgram(load('array-length'), env));
    expect(stdout).toContain('ZE_RESULT_ERROR_MODULE_BUILD_FAILURE (0x70000004): the driver gave no build log');
  });
}
