// @ts-check
// `intel-child.mjs <JSON>`: builds kernels on the device that the environment names, makes their kernel objects and
// launches each once. A process of its own, as Intel's compiler can end it; each kernel is named before it is tried.
import { keepBuilds } from './intel-builds.mjs';

/** @typedef {{ names: readonly string[], folder: string, compiler: string }} Request */

const built = new URL('../../dist/', import.meta.url);
const { LevelZeroClient } = await import(new URL('device/level-zero-client.js', built).href);
const { allKernels } = await import(new URL('kernels/all-kernels.js', built).href);

const BYTES = 2 ** 20;

/** @type {Request} */
const { names, folder, compiler } = JSON.parse(process.argv[2] ?? '');
const wanted = new Set(names);
const say = (/** @type {object} */ message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const client = await LevelZeroClient.open();
const lastBinary = keepBuilds(client, folder, compiler);
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
    say({ name, binary: lastBinary() });
  } catch (error) {
    say({ name, error: error instanceof Error ? error.message : String(error) });
    // What was launched in vain spoils the client; the parent starts another for the rest.
    if (client.failure !== undefined) break;
  }
}
await client.dispose();
