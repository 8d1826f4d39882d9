// Runs in Deno, with the packages as they are built: `program.mjs <mode> <sample>` prints a line of JSON.
import { runConformance } from '@concord/conformance';
import { WasmBackend } from '../../dist/index.js';

const [mode, sample] = process.argv.slice(2);
const options = { mode: /** @type {import("../../dist/index.js").WasmMode} */ (mode) };
const { device, notRun, cases } = await runConformance(() => new WasmBackend(options), { sample: Number(sample) });
const results = cases.map(({ id, status, detail }) => ({ id, status, detail }));
console.log(JSON.stringify({ device, notRun, cases: results }));
// No exit: the process has to end by itself.
