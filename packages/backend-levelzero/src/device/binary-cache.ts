import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '@concord/variants';
import type { LevelZeroLibrary } from '../ffi/load.ts';
import { Struct } from '../ffi/structs.ts';
import type { ListedDevice } from './list-devices.ts';

/** The binary of a module, by a driver's compiler. */
export interface KeptBinary {
  readonly binary: Uint8Array;
  /** The output of the compiler. */
  readonly log: string;
}

/** The header before a binary in its file, on its own line. */
interface Header {
  readonly format: 'concord-module';
  readonly version: 1;
  readonly bytes: number;
  readonly sha256: string;
  readonly log: string;
}

/** Bytes of all files; beyond, the oldest go. */
const MAX_BYTES = 256 * 2 ** 20;

/** Files that were warned of. */
const warned = new Set<string>();

/**
 * Compiled modules of one driver and device, in the user's cache folder. Nothing here throws: what is damaged is ignored with a
 * warning, and what cannot be written is not kept.
 */
export class BinaryCache {
  readonly #folder: string;
  /** The rest of a module's key: another driver compiles other code. */
  readonly #compiler: string;
  #hasTidied = false;

  constructor(folder: string, compiler: string) {
    this.#folder = folder;
    this.#compiler = compiler;
  }

  /**
   * Opens the cache of a device, by driver version and PCI number (the driver's uuid is a new one in each process);
   * undefined for a user without a home.
   */
  static open({ api }: LevelZeroLibrary, { driver, device, info }: ListedDevice): BinaryCache | undefined {
    const ofDriver = new Struct('ze_driver_properties_t');
    const ofDevice = new Struct('ze_device_properties_t');
    if (api.zeDriverGetProperties(driver, ofDriver.bytes) !== 0) return undefined;
    if (api.zeDeviceGetProperties(device, ofDevice.bytes) !== 0) return undefined;
    const numbers = [ofDriver.get('driverVersion'), ofDevice.get('vendorId'), ofDevice.get('deviceId')];
    try {
      return new BinaryCache(join(cacheFolder('level-zero'), 'modules'), [...numbers, info.name].join(' '));
    } catch {
      return undefined;
    }
  }

  /** The binary of a module, by the hash of its words, constants and flags. */
  find(key: string): KeptBinary | undefined {
    const file = this.#fileOf(key);
    let content: Uint8Array;
    try {
      content = readFileSync(file);
    } catch {
      return undefined;
    }
    const kept = parse(content);
    if (kept === undefined) this.#warn(file, 'is damaged');
    return kept;
  }

  /** The driver does not take what was kept. */
  refuse(key: string, why: string): void {
    this.#warn(this.#fileOf(key), `is not taken by the driver (${why})`);
  }

  /** Writes a binary in one go: a reader meanwhile gets none, or all of it. */
  keep(key: string, { binary, log }: KeptBinary): void {
    const file = this.#fileOf(key);
    const draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    const header: Header = {
      format: 'concord-module',
      version: 1,
      bytes: binary.byteLength,
      sha256: hashOf(binary),
      log,
    };
    try {
      mkdirSync(this.#folder, { recursive: true });
      this.#tidy();
      writeFileSync(draft, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), binary]));
      renameSync(draft, file);
    } catch {
      // A folder that cannot be written to, or a full disk: it is built again next time.
      removeIfThere(draft);
    }
  }

  #fileOf(key: string): string {
    return join(this.#folder, `${hashOf(Buffer.from(`${key} ${this.#compiler}`))}.bin`);
  }

  /** Tidies the cache once for each object, before the first file is added. */
  #tidy(): void {
    if (this.#hasTidied) return;
    this.#hasTidied = true;
    const files = readdirSync(this.#folder).map((name) => {
      const path = join(this.#folder, name);
      // Another process may just have renamed or removed it.
      const stat = statSync(path, { throwIfNoEntry: false });
      return { path, size: stat?.size ?? 0, mtimeMs: stat?.mtimeMs ?? 0 };
    });
    let bytes = files.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size } of files.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= MAX_BYTES) return;
      rmSync(path, { force: true });
      bytes -= size;
    }
  }

  #warn(file: string, problem: string): void {
    if (warned.has(file)) return;
    warned.add(file);
    process.emitWarning(`the compiled module ${file} ${problem}; it is compiled again`, {
      code: 'CONCORD_MODULE_CACHE',
    });
  }
}

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Its folder is none.
  }
}

/** A file's content, if it is whole. */
function parse(content: Uint8Array): KeptBinary | undefined {
  const end = content.indexOf(10);
  if (end < 0) return undefined;
  try {
    const header = JSON.parse(new TextDecoder().decode(content.subarray(0, end))) as Partial<Header>;
    const binary = content.subarray(end + 1);
    const isWhole = header.bytes === binary.byteLength && header.sha256 === hashOf(binary);
    if (!isWhole || header.format !== 'concord-module' || header.version !== 1) return undefined;
    return typeof header.log === 'string' ? { binary, log: header.log } : undefined;
  } catch {
    return undefined;
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
