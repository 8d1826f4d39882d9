// @ts-check
// What the driver needs of this system to be built and to run, and the packages that have it.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, installPackages, speaker, unsupported } from '../../vulkan/lib/system.mjs';

/** One step of setting up this driver. */
export const say = speaker('level-zero-cpu');

const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const libraries = [`/usr/lib/${triplet}`, `/lib/${triplet}`, '/usr/lib64', '/usr/lib', '/usr/local/lib'];
const headers = ['/usr/include', '/usr/local/include'];

/** The first of some folders that has a file. @param {string[]} folders @param {string} file */
const find = (folders, file) => folders.map((folder) => join(folder, file)).find((path) => existsSync(path));

/** Files without which the driver cannot be built, by package. */
const toBuild = {
  gcc: () => attempt('cc', ['--version']).ok,
  'libc6-dev': () => find(headers, 'stdlib.h'),
  binutils: () => find(['/usr/bin'], 'ld'),
  'libze-dev': () => find(headers, 'level_zero/ze_ddi.h') && find(libraries, 'libze_loader.so'),
  'opencl-c-headers': () => find(headers, 'CL/cl_icd.h'),
  'spirv-headers': () => find(headers, 'spirv/unified1/spirv.h'),
  'spirv-tools': () =>
    find(headers, 'spirv-tools/libspirv.h') && find(libraries, 'libSPIRV-Tools.a') && find(['/usr/bin'], 'spirv-as'),
};

const pocl = () => find(libraries, 'libpocl.so.2');
const loader = () => find(libraries, 'libze_loader.so.1');

/** The LLVM that PoCL is built with, or would be, such as `15`; undefined where that cannot be known. */
function llvmOfPocl() {
  const library = pocl();
  const [, version] = library
    ? (/libLLVM(?:-|\.so\.)(\d+)/.exec(readFileSync(library, 'latin1')) ?? [])
    : (/libllvm(\d+)/.exec(attempt('apt-cache', ['depends', 'libpocl2']).stdout) ?? []);
  return version;
}

/** llvm-spirv of an LLVM no newer than PoCL's, which reads what it writes. @param {string} llvm */
function translator(llvm) {
  const versions = readdirSync('/usr/bin').flatMap((file) => /^llvm-spirv-(\d+)$/.exec(file)?.[1] ?? []);
  const [newest] = versions.filter((version) => Number(version) <= Number(llvm)).sort((a, b) => Number(b) - Number(a));
  return newest && `/usr/bin/llvm-spirv-${newest}`;
}

/** The packages that have what is missing, none where all is there. */
export function missingPackages() {
  const missing = Object.entries(toBuild).flatMap(([name, found]) => (found() ? [] : [name]));
  if (!loader()) missing.push('libze1');
  if (!pocl()) missing.push('libpocl2');
  const llvm = llvmOfPocl();
  if (!llvm || !translator(llvm)) missing.push(`llvm-spirv-${llvm ?? '15'}`);
  return missing;
}

/** The files of the system that the driver needs to run. */
export function runtimeFiles() {
  const llvm = llvmOfPocl();
  return [loader(), pocl(), llvm && translator(llvm), '/usr/bin/ld'].filter(
    (file) => file !== undefined && file !== '',
  );
}

/**
 * Installs what is missing, as root on Debian or Ubuntu.
 *
 * @throws {Error} with the command to run, where it may not or cannot
 */
export function ensureNeeds() {
  const packages = missingPackages();
  if (packages.length === 0) return;
  const reason = unsupported();
  if (reason) throw new Error(`these packages of Debian are missing here: ${packages.join(' ')}; ${reason}`);
  installPackages(say, packages, { lacking: `${packages.join(', ')} missing`, title: 'what is missing' });
}
