import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkDevice, readySoftwareDevices } from './device.ts';
import { CASE_OPTIONS, EXIT } from './options.ts';
import { checkOps } from './limits/cases.ts';
import { readTorch } from './limits/torch.ts';

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));

/**
 * Everything that is there, each device in a separate process, so that one that crashes leaves the others alone: the
 * CPU, WebAssembly with one thread and with all, Level Zero on the CPU, WebGPU on the GPU of the machine and on the software devices that are set up, or on those that
 * `--device` names. Options: see the help in main.ts.
 *
 * @returns whether all of our own results are there and right; a machine without a GPU or Level Zero is no failure
 */
export async function benchAll(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...CASE_OPTIONS,
      device: { type: 'string' },
      limit: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const { quick, device, limit, ...rest } = values;
  if (limit !== undefined) readTorch(limit);
  checkOps(values.only);
  device?.split(',').forEach(checkDevice);
  const common = Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  if (quick) common.push('--quick');
  const devices = device?.split(',') ?? ['system', ...(await readySoftwareDevices())];
  const runs: string[][] = [
    ['cpu', ...common],
    ['wasm', '--threads', '1', ...common],
    ['wasm', ...common],
    ['level-zero', ...common],
    ...devices.map((name) => {
      const recorded = limit === undefined || name !== 'system' ? [] : ['--limit', limit];
      return ['webgpu', '--device', name, ...recorded, ...common];
    }),
  ];
  const codes: (number | null)[] = [];
  for (const run of runs) {
    console.error(`\n$ bench ${run.join(' ')}`);
    const child = spawn(process.execPath, [MAIN, ...run], { stdio: 'inherit' });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (signal !== null) console.error(`bench ${run[0]} was ended by ${signal}`);
    codes.push(code);
  }
  return codes.every((code) => code === 0 || code === EXIT.notHere);
}
