// @ts-check
// `set-up-devices.mjs [device...]` sets devices of tests up, one after another. It needs nothing that is installed, so that
// it runs beside the install and the build.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUpBun } from '../../software-devices/bun/setup.mjs';
import { setUpChromium } from '../../software-devices/chromium/setup.mjs';
import { setUpDeno } from '../../software-devices/deno/setup.mjs';
import { setUp as setUpIntelDriver } from '../../software-devices/intel-driver/setup.mjs';
import { setUp as setUpLevelZero } from '../../software-devices/level-zero-cpu/setup.mjs';
import { setUpRedis } from '../../software-devices/redis/setup.mjs';
import { setUp as setUpVulkan } from '../../software-devices/vulkan/setup.mjs';

/** Everything that tests run on. @type {Readonly<Record<string, () => unknown>>} */
const SET_UP = {
  vulkan: setUpVulkan,
  'level-zero': setUpLevelZero,
  intel: setUpIntelDriver,
  chromium: setUpChromium,
  deno: setUpDeno,
  bun: setUpBun,
  redis: setUpRedis,
};

/** The devices of the projects that do not use all. Of a backend that is not here, which `new-backend` wrote: none. @type {Readonly<Record<string, readonly string[]>>} */
const DEVICES_OF = {
  'backend-core': [],
  'backend-cpu': [],
  'backend-levelzero': ['level-zero', 'intel'],
  'backend-levelzero-validated': ['level-zero'],
  'backend-wasm': ['chromium', 'deno'],
  'backend-webgpu': ['vulkan', 'chromium', 'deno'],
  'backend-webgpu-swiftshader': ['vulkan'],
  cli: ['vulkan', 'level-zero', 'bun'],
  conformance: [],
  kernel: [],
  ops: ['vulkan', 'level-zero'],
  site: ['vulkan', 'chromium'],
  'spirv-builder': ['level-zero'],
  tools: ['vulkan'],
  variants: [],
};

/**
 * The devices that the projects named in vitest's arguments run on; all devices where none is named.
 *
 * @param {readonly string[]} args
 */
export function devicesOf(args) {
  const projects = args.flatMap((arg, at) => {
    const named = /^--project(?:=(.*))?$/.exec(arg);
    return named === null ? [] : [named[1] ?? args[at + 1] ?? ''];
  });
  const all = Object.keys(SET_UP);
  if (projects.length === 0) return all;
  const wanted = new Set(
    projects.flatMap((project) => DEVICES_OF[project] ?? (/^backend-[\w-]+$/.test(project) ? [] : all)),
  );
  return all.filter((device) => wanted.has(device));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  for (const device of process.argv.slice(2)) await SET_UP[device]?.();
}
