// @ts-check
// Keeps what Intel's compiler made of a module, for other processes and the next run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('../../src/device/level-zero-client.ts').LevelZeroClient} Client */
/** @typedef {import('../../src/ffi/prototypes.ts').LevelZeroApi['zeModuleCreate']['async']} Create */

const FORMAT_NATIVE = 1;
const DESCRIPTION = { size: 56, format: 16, words: 24, module: 32, flags: 40, constants: 48 };

/**
 * Makes `zeModuleCreate` of this process load the native binary of what was built before, and keep those of what is built.
 *
 * @param {Client} client
 * @param {string} folder where they are kept
 * @param {string} compiler what compiles: its version and the device
 * @returns {() => string} the file with the binary of the last module that was made
 */
export function keepBuilds({ library }, folder, compiler) {
  const { api, koffi } = library;
  const getNativeBinary = koffi
    .load(library.file)
    .func('zeModuleGetNativeBinary', 'uint32_t', ['void *', 'void *', 'void *']);
  const bytesAt = (/** @type {bigint} */ address, /** @type {number} */ size) =>
    new Uint8Array(koffi.view(address, size));
  let last = '';
  mkdirSync(folder, { recursive: true });

  /** @param {DataView} description */
  function fileOf(description) {
    const pointer = (/** @type {number} */ field) => description.getBigUint64(field, true);
    const hash = createHash('sha256').update(`${compiler}\n`);
    hash.update(bytesAt(pointer(DESCRIPTION.module), Number(pointer(DESCRIPTION.words))));
    hash.update(`\n${pointer(DESCRIPTION.flags) === 0n ? '' : koffi.decode(pointer(DESCRIPTION.flags), 'char', -1)}\n`);
    if (pointer(DESCRIPTION.constants) !== 0n) {
      const constants = new DataView(bytesAt(pointer(DESCRIPTION.constants), 24).buffer);
      const count = constants.getUint32(0, true);
      hash.update(bytesAt(constants.getBigUint64(8, true), 4 * count));
      const values = new BigUint64Array(bytesAt(constants.getBigUint64(16, true), 8 * count).slice().buffer);
      for (const value of values) hash.update(bytesAt(value, 4));
    }
    return join(folder, `${hash.digest('hex')}.bin`);
  }

  /** @param {bigint} slot where `zeModuleCreate` put the module @param {string} file */
  function keep(slot, file) {
    const [module = 0n] = new BigUint64Array(bytesAt(slot, 8).slice().buffer);
    const size = new BigUint64Array(1);
    if (getNativeBinary(module, size, null) !== 0) throw new Error('the driver gives no native binary');
    const binary = new Uint8Array(Number(size[0]));
    getNativeBinary(module, size, binary);
    // Another process may read it: it is there whole or not at all.
    writeFileSync(`${file}.${process.pid}`, binary);
    renameSync(`${file}.${process.pid}`, file);
  }

  const { zeModuleCreate } = api;
  /** @type {Create} */
  const create = (context, device, address, module, log, callback) => {
    const bytes = bytesAt(/** @type {bigint} */ (address), DESCRIPTION.size);
    const description = new DataView(bytes.buffer);
    const file = fileOf(description);
    last = file;
    const build = () =>
      zeModuleCreate.async(context, device, address, module, log, (error, result) => {
        if (error === null && result === 0) keep(/** @type {bigint} */ (module), file);
        callback(error, result);
      });
    if (!existsSync(file)) return build();
    const asked = bytes.slice();
    const binary = readFileSync(file);
    const block = koffi.alloc('uint8_t', binary.length);
    bytesAt(block, binary.length).set(binary);
    description.setUint32(DESCRIPTION.format, FORMAT_NATIVE, true);
    description.setBigUint64(DESCRIPTION.words, BigInt(binary.length), true);
    description.setBigUint64(DESCRIPTION.module, block, true);
    description.setBigUint64(DESCRIPTION.constants, 0n, true);
    zeModuleCreate.async(context, device, address, module, null, (error, result) => {
      koffi.free(block);
      bytes.set(asked);
      // Damaged: it is built, and kept, anew.
      if (error !== null || result !== 0) build();
      else callback(error, result);
    });
  };
  const kept = Object.assign((/** @type {Parameters<typeof zeModuleCreate>} */ ...args) => zeModuleCreate(...args), {
    async: create,
  });
  Object.defineProperty(api, 'zeModuleCreate', { value: kept });
  return () => last;
}
