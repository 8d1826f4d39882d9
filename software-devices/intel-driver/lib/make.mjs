// @ts-check
// Unpacks Intel's driver and compiler, and proves that they load.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { packageField, PackageStore, unpack } from '../../vulkan/lib/packages.mjs';
import { run, speaker, unsupported } from '../../vulkan/lib/system.mjs';
import { cache, compilerIn, driverIn, folder, librariesIn, readyDriver, stampKey } from './cache.mjs';

/** One step of setting up this driver. */
export const say = speaker('intel-driver');

// Made here and moved at the end, so that the driver is whole or absent.
const work = join(cache, 'work');

/** The driver, its compiler with LLVM, the disassembler, and the loader. */
const PACKAGES = [
  'intel-opencl-icd',
  'libigc1',
  'libigc-tools',
  'libigdgmm12',
  'libllvmspirvlib14',
  'libllvm14',
  'libze1',
];

/** Packages of what those need beyond dpkg and bash, which many systems have. @type {Readonly<Record<string, string>>} */
const LIBRARIES = {
  'libbsd.so.0': 'libbsd0',
  'libedit.so.2': 'libedit2',
  'libffi.so.8': 'libffi8',
  'libicuuc.so.72': 'libicu72',
  'libxml2.so.2': 'libxml2',
  'libz3.so.4': 'libz3-4',
};

/**
 * Why this machine cannot have the driver, or undefined.
 *
 * @param {string} [system] what it says of itself, as /etc/os-release does
 * @param {string} [architecture]
 */
export function unobtainable(system = readSystem(), architecture = process.arch) {
  const reason = unsupported();
  if (reason) return `needs packages of Debian 12; ${reason}`;
  if (architecture !== 'x64') return `Intel's driver is for x64, and this is ${architecture}`;
  const field = (/** @type {string} */ key) => new RegExp(`^${key}="?([^"\n]*)"?$`, 'm').exec(system)?.[1];
  if (field('ID') === 'debian' && field('VERSION_ID') === '12') return undefined;
  return `needs packages of Debian 12, and this is ${field('PRETTY_NAME') ?? 'an unknown system'}`;
}

const readSystem = () => (existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '');

/**
 * Unpacks the driver unless it is ready. One at a time in a cache: see the lock in setup.mjs.
 *
 * @returns {boolean} whether it is ready; a line on stderr says why not
 */
export function makeDriver() {
  if (readyDriver()) return true;
  try {
    // A run that was stopped half-way leaves its work behind.
    rmSync(work, { recursive: true, force: true });
    const version = unpackAll();
    const files = filesIn(work);
    probe();
    writeFileSync(join(work, 'ready.json'), JSON.stringify({ key: stampKey(), version, files }, null, 2));
    rmSync(folder, { recursive: true, force: true });
    renameSync(work, folder);
    return true;
  } catch (error) {
    console.error(`intel-driver: not available: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @returns {string} the version of the driver and its compiler */
function unpackAll() {
  const packages = new PackageStore(cache, say);
  const add = (/** @type {readonly string[]} */ names) => {
    const fetched = packages.download(names);
    say(`unpacking ${names.join(', ')}`);
    for (const file of fetched) unpack(file, work, ['*']);
    return fetched;
  };
  const [driver = '', compiler = ''] = add(PACKAGES);
  // A library that was found shows what that one needs, so ask again until nothing is missing.
  for (let lacking = missing(); lacking.length > 0; lacking = missing()) {
    const unknown = lacking.filter((library) => LIBRARIES[library] === undefined);
    if (unknown.length > 0) throw new Error(`this system has no ${unknown.join(', ')}`);
    add(lacking.map((library) => LIBRARIES[library] ?? ''));
  }
  return `driver ${packageField(driver, 'Version')}, compiler ${packageField(compiler, 'Version')}`;
}

/** Libraries that are found neither on the system nor in what was unpacked. */
function missing() {
  const linked = run('ldd', [driverIn(work), compilerIn(work)], { env: { LD_LIBRARY_PATH: librariesIn(work) } });
  return [...new Set([...linked.matchAll(/^\s*(\S+) => not found$/gm)].map(([, name = '']) => name))];
}

/** Loads the driver and its compiler into a process, with all that they are linked to. */
function probe() {
  const load = `for (const file of process.argv.slice(1))
    try { process.dlopen({ exports: {} }, file, ${constants.dlopen.RTLD_NOW}); }
    catch (error) { if (!String(error).includes('did not self-register')) throw error; }`;
  const env = { LD_LIBRARY_PATH: librariesIn(work) };
  run(process.execPath, ['-e', load, driverIn(work), compilerIn(work)], { env });
}

/** @param {string} unpacked @returns {Record<string, number>} bytes of each file, by its path */
function filesIn(unpacked) {
  const paths = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
  // Links into packages that are not here lead nowhere.
  const sized = paths.map((path) => ({ path, stat: statSync(join(unpacked, path), { throwIfNoEntry: false }) }));
  return Object.fromEntries(sized.flatMap(({ path, stat }) => (stat?.isFile() ? [[path, stat.size]] : [])));
}
