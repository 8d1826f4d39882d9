// @ts-check
// `intel-child.mjs <JSON>`: builds kernels on the device that the environment names, makes their kernel objects and
// launches each once. A separate process, as Intel's compiler can end it; each kernel is named before it is tried.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allKernels } from './run-samples.mjs';

/** @typedef {{ names: readonly string[], folder: string }} Request `folder`: where binaries go */

const built = new URL('../../dist/', import.meta.url);
const { LevelZeroClient } = await import(new URL('device/level-zero-client.js', built).href);

const BYTES = 2 ** 20;

/** @type {Request} */
const { names, folder } = JSON.parse(process.argv[2] ?? '');
const wanted = new Set(names);
const say = (/** @type {object} */ message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const client = await LevelZeroClient.open();
mkdirSync(folder, { recursive: true });
const memory = { buffer: client.allocate(BYTES), byteOffset: 0, byteLength: BYTES };
/** @type {import('../../src/kernels/kernel.ts').Kernel[]} */
const kernels = allKernels(client.traits).filter((/** @type {{ name: string }} */ { name }) => wanted.has(name));
for (const kernel of kernels) {
  const { name } = kernel;
  say({ trying: name });
  try {
    await client.compile(kernel);
    const entries = kernel.parameters.map((parameter) => [parameter.name, parameter.type === 'pointer' ? memory : 1]);
    /** @type {import('../../src/kernels/recorder.ts').Launch} */
    const launch = { kernel, args: Object.fromEntries(entries), groups: [1, 1, 1] };
    client.record(name, (/** @type {import('../../src/kernels/recorder.ts').Recorder} */ recorder) =>
      recorder.launch(launch),
    );
    await client.finish();
    say({ name, binary: keep(kernel) });
  } catch (error) {
    say({ name, error: error instanceof Error ? error.message : String(error) });
    // What was launched in vain spoils the client; the parent starts another for the rest.
    if (client.failure !== undefined) break;
  }
}
await client.dispose();

/**
 * Writes what the compiler made of a kernel to a file, for those who look into it.
 *
 * @param {import('../../src/kernels/kernel.ts').Kernel} kernel
 * @returns {string} its path
 */
function keep(kernel) {
  const binary = client.nativeBinary(kernel);
  if (binary === undefined) throw new Error('the driver gives no native binary');
  const file = join(folder, `${createHash('sha256').update(kernel.name).digest('hex')}.bin`);
  writeFileSync(file, binary);
  return file;
}
