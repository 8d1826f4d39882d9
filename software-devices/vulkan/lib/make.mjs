// @ts-check
// Makes one device: its driver and what that lacks out of packages, a shim built for it, and the proof that it starts.
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cache, folderOf, readyDevice, sources, stampKey } from './cache.mjs';
import { packageField, PackageStore, unpack } from './packages.mjs';
import { attempt, installPackages, isUbuntu, run, say } from './system.mjs';

/** @typedef {import('./cache.mjs').Device} Device */

const drivers = {
  lavapipe: { package: 'mesa-vulkan-drivers', file: 'libvulkan_lvp.so' },
  swiftshader: { package: 'chromium-common', file: 'libvk_swiftshader.so' },
};

// Made here and moved at the end, so that a device folder is whole or absent.
const work = join(cache, 'work');
const headers = join(work, 'headers');
const packages = new PackageStore(cache, say);
const compile = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-I', join(headers, 'usr/include')];

/** Why this system has no package of the device, or undefined. @param {Device} device */
export function unobtainable(device) {
  if (device === 'swiftshader' && isUbuntu()) return 'Ubuntu has no package chromium-common (its Chromium is a snap)';
  return undefined;
}

/**
 * Makes those devices that are not ready. One at a time in a cache: see the lock in setup.mjs.
 *
 * @param {readonly Device[]} wanted
 * @returns {boolean} whether all are ready
 */
export function makeDevices(wanted) {
  const unready = wanted.filter((device) => !readyDevice(device));
  let complete = true;
  /** @param {readonly Device[]} which @param {() => void} step */
  const report = (which, step) => {
    try {
      step();
      return true;
    } catch (error) {
      complete = false;
      console.error(
        `vulkan: ${which.join(', ')} not available: ${error instanceof Error ? error.message : String(error)}`,
      );
      return false;
    }
  };

  const obtainable = unready.filter((device) =>
    report([device], () => {
      const reason = unobtainable(device);
      if (reason) throw new Error(reason);
    }),
  );
  if (obtainable.length === 0) return complete;
  // A run that was stopped half-way leaves its work behind.
  rmSync(work, { recursive: true, force: true });
  if (report(obtainable, makeTools)) for (const device of obtainable) report([device], () => makeDevice(device));
  rmSync(work, { recursive: true, force: true });
  return complete;
}

function makeTools() {
  if (!attempt('cc', ['--version']).ok) {
    const texts = { lacking: 'there is no C compiler', title: 'a C compiler' };
    installPackages(say, ['gcc', 'libc6-dev'], texts);
  }
  const [file = ''] = packages.download(['libvulkan-dev']);
  unpack(file, headers, ['./usr/include/vulkan/*', './usr/include/vk_video/*']);
  run('cc', [...compile, '-o', join(work, 'probe'), sources.probe]);
}

/** @param {Device} device */
function makeDevice(device) {
  const driver = drivers[device];
  const made = join(work, device);
  const libraries = join(made, 'lib');
  mkdirSync(libraries, { recursive: true });

  const [file = ''] = packages.download([driver.package]);
  unpack(file, join(work, 'driver'), [`*/${driver.file}`]);
  copy(driver.file, join(work, 'driver'), libraries);
  const system = addLibraries(file, libraries, join(libraries, driver.file));

  say(`building the shim for ${device}`);
  const shim = join(made, 'libvulkan.so.1');
  const library = ['-shared', '-fPIC', '-fvisibility=hidden', `-DDRIVER="${driver.file}"`];
  // nodelete: preload.mjs has Node load it and drop it, and Dawn must still find it. All of lib/ is linked, though the
  // shim uses none of it itself: its rpath then finds every one of them before they look for each other elsewhere.
  const link = '-Wl,-soname,libvulkan.so.1,-z,nodelete,-rpath,$ORIGIN/lib,--no-as-needed';
  const needed = readdirSync(libraries).map((name) => join(libraries, name));
  run('cc', [...compile, ...library, '-o', shim, sources.shim, link, ...needed]);

  const files = Object.fromEntries([shim, ...needed].map((path) => [path.slice(made.length + 1), statSync(path).size]));
  const name = run(join(work, 'probe'), [shim], { env: { CONCORD_VULKAN_DRIVER: undefined } }).trim();
  const version = `${name} (${driver.package} ${packageField(file, 'Version')})`;
  writeFileSync(join(made, 'ready.json'), JSON.stringify({ key: stampKey(), version, files, system }, null, 2));
  rmSync(folderOf(device), { recursive: true, force: true });
  renameSync(made, folderOf(device));
}

/**
 * Puts every library beside the driver that it needs and this system lacks.
 *
 * @param {string} file the driver's package
 * @param {string} folder
 * @param {string} driver
 * @returns {string[]} the libraries of the system that it uses
 */
function addLibraries(file, folder, driver) {
  const resolve = () => run('ldd', [driver], { env: { LD_LIBRARY_PATH: folder } });
  const missing = () => [...resolve().matchAll(/^\s*(\S+) => not found$/gm)].map(([, name = '']) => name);
  if (missing().length > 0) {
    const unpacked = join(work, 'libraries');
    for (const dependency of packages.download(missingDependencies(file))) unpack(dependency, unpacked, ['*']);
    // A library that was found shows what that one needs, so ask again until nothing is missing.
    for (let names = missing(); names.length > 0; names = missing())
      for (const name of names) copy(name, unpacked, folder);
  }
  const found = [...resolve().matchAll(/ => (\/.*) \(0x/g)].map(([, path = '']) => path);
  return found.filter((path) => !path.startsWith(folder));
}

/** Copies a file from anywhere in a folder. @param {string} name @param {string} from @param {string} to */
function copy(name, from, to) {
  const found = readdirSync(from, { recursive: true, encoding: 'utf8' }).find((file) => basename(file) === name);
  if (!found) throw new Error(`${name} is in none of the packages`);
  cpSync(join(from, found), join(to, name), { dereference: true });
}

/**
 * The packages that a package needs and this system lacks, without python, which is for a tool of Mesa's that is not
 * wanted here, and without the Vulkan loader, whose place the shim takes.
 *
 * @param {string} file
 */
function missingDependencies(file) {
  const direct = packageField(file, 'Depends')
    .split(',')
    .map((dependency) => dependency.trim().replace(/[ :(|].*/, ''))
    .filter((name) => name !== 'libvulkan1' && !name.startsWith('python'));
  return packages.missing(direct);
}
