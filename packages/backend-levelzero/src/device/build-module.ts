import { BackendError } from '@concord/backend-core';
import type { BuildLogHandle, ModuleHandle } from '../ffi/prototypes.ts';
import { ENUMS, NativeBytes, Struct, structSize } from '../ffi/structs.ts';
import { RESULTS, resultName } from '../ffi/result.ts';
import type { OpenDevice } from './open-device.ts';

/** A specialisation constant by its SpecId, and its value. */
export interface ModuleConstant {
  readonly id: number;
  readonly type: 'u32' | 'f32';
  readonly value: number;
}

/** A module to build. */
export interface ModuleSource {
  /** The name for messages. */
  readonly name: string;
  readonly words: Uint32Array;
  readonly constants: readonly ModuleConstant[];
  /** Options of the driver's compiler, such as `-ze-opt-level=2`. */
  readonly flags?: string | undefined;
}

/** The input of the driver: the words to compile, or the binary from before. */
export interface ModuleInput {
  readonly source: ModuleSource;
  readonly native?: Uint8Array | undefined;
}

/**
 * A module that a user loads.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkSource(words: Uint32Array, constants: readonly ModuleConstant[]): void {
  if (!(words instanceof Uint32Array) || words.length === 0) {
    throw new BackendError('INVALID_ARGUMENT', 'a module is a Uint32Array of SPIR-V words');
  }
  const problem = problemOfWords(words);
  if (problem !== undefined)
    throw new BackendError('INVALID_ARGUMENT', `these words are not a SPIR-V module: ${problem}`);
  if (!Array.isArray(constants) || !constants.every(isConstant)) {
    throw new BackendError('INVALID_ARGUMENT', "constants are of the form { id: 0, type: 'u32', value: 3 }");
  }
}

const MAGIC = 0x0723_0203;
const MAGIC_OF_OTHER_ENDIAN = 0x0302_2307;
/** Words before the first instruction: magic, version, generator, bound and a zero. */
const HEADER_WORDS = 5;

/** The fault in words, as far as it shows without reading instructions: some compilers end the process on such. */
function problemOfWords(words: Uint32Array): string | undefined {
  if (words[0] === MAGIC_OF_OTHER_ENDIAN) return 'the bytes of each word are in the other order';
  if (words[0] !== MAGIC) return `they begin with 0x${(words[0] ?? 0).toString(16)}, not with 0x${MAGIC.toString(16)}`;
  let at = HEADER_WORDS;
  while (at < words.length) {
    const count = (words[at] as number) >>> 16;
    if (count === 0) return `the instruction at word ${at} has no words`;
    at += count;
  }
  return at === words.length ? undefined : `they end within an instruction, ${at - words.length} words too early`;
}

function isConstant(constant: ModuleConstant | null | undefined): boolean {
  const isU32 = (value: unknown): boolean => typeof value === 'number' && value === value >>> 0;
  if (typeof constant !== 'object' || constant === null || !isU32(constant.id)) return false;
  const { type, value } = constant;
  return type === 'u32' ? isU32(value) : type === 'f32' && typeof value === 'number';
}

/** A module that was built, and what its compiler said. */
export interface BuiltModule {
  readonly module: ModuleHandle;
  /** Warnings; empty if there are none. */
  readonly log: string;
}

/**
 * Builds a module on this thread.
 *
 * @throws {BackendError} DEVICE_ERROR with the build log; OUT_OF_MEMORY; DEVICE_LOST
 */
export function buildModule(device: OpenDevice, input: ModuleInput): BuiltModule {
  const request = new BuildRequest(device, input);
  try {
    const { description, module, log } = request;
    return request.finish(device.api.zeModuleCreate(device.context, device.device, description, module, log));
  } finally {
    request.memory.free();
  }
}

/** Does what {@link buildModule} does, on a thread of koffi's. */
export function buildModuleAsync(device: OpenDevice, input: ModuleInput): Promise<BuiltModule> {
  const request = new BuildRequest(device, input);
  return new Promise((resolve, reject) => {
    const { description, module, log } = request;
    device.api.zeModuleCreate.async(device.context, device.device, description, module, log, (error, result) => {
      try {
        if (error !== null) throw error;
        resolve(request.finish(result));
      } catch (failure) {
        reject(failure);
      } finally {
        request.memory.free();
      }
    });
  });
}

/** The binary of a module; undefined where the driver does not give it away. */
export function nativeBinary({ api }: OpenDevice, module: ModuleHandle): Uint8Array | undefined {
  const size = new BigUint64Array(1);
  if (api.zeModuleGetNativeBinary(module, size, null) !== RESULTS.SUCCESS) return undefined;
  const bytes = new Uint8Array(Number(size[0]));
  return api.zeModuleGetNativeBinary(module, size, bytes) === RESULTS.SUCCESS ? bytes : undefined;
}

/** The arguments of a build in memory that does not move. */
class BuildRequest {
  readonly memory: NativeBytes;
  readonly description: bigint;
  readonly module: bigint;
  readonly log: bigint;
  readonly #device: OpenDevice;
  readonly #source: ModuleSource;
  readonly #handles: BigUint64Array;

  constructor(device: OpenDevice, { source, native }: ModuleInput) {
    this.#device = device;
    this.#source = source;
    const { words } = source;
    // They are in what was compiled.
    const constants = native === undefined ? source.constants : [];
    const module = native ?? new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    const flags = new TextEncoder().encode(`${source.flags ?? ''}\0`);
    let size = 0;
    const place = (bytes: number): number => {
      const offset = size;
      size += Math.ceil(bytes / 8) * 8;
      return offset;
    };
    const at = {
      handles: place(16),
      description: place(structSize('ze_module_desc_t')),
      constants: place(structSize('ze_module_constants_t')),
      ids: place(4 * constants.length),
      pointers: place(8 * constants.length),
      values: place(4 * constants.length),
      flags: place(flags.byteLength),
      module: place(module.byteLength),
    };
    this.memory = new NativeBytes(device.koffi, size);
    const { address, bytes } = this.memory;
    const there = (offset: number): bigint => address + BigInt(offset);
    const view = new DataView(bytes.buffer);
    constants.forEach(({ id, type, value }, index) => {
      view.setUint32(at.ids + 4 * index, id, true);
      view.setBigUint64(at.pointers + 8 * index, there(at.values + 4 * index), true);
      if (type === 'f32') view.setFloat32(at.values + 4 * index, value, true);
      else view.setUint32(at.values + 4 * index, value, true);
    });
    bytes.set(flags, at.flags);
    bytes.set(module, at.module);
    new Struct('ze_module_constants_t', bytes.subarray(at.constants))
      .set('numConstants', constants.length)
      .set('pConstantIds', there(at.ids))
      .set('pConstantValues', there(at.pointers));
    new Struct('ze_module_desc_t', bytes.subarray(at.description))
      .set('format', native === undefined ? ENUMS.ZE_MODULE_FORMAT_IL_SPIRV : ENUMS.ZE_MODULE_FORMAT_NATIVE)
      .set('inputSize', module.byteLength)
      .set('pInputModule', there(at.module))
      .set('pBuildFlags', there(at.flags))
      .set('pConstants', constants.length === 0 ? 0n : there(at.constants));
    this.description = there(at.description);
    this.module = there(at.handles);
    this.log = there(at.handles + 8);
    this.#handles = new BigUint64Array(bytes.buffer, at.handles, 2);
  }

  finish(result: number): BuiltModule {
    const [module, logHandle] = this.#handles as unknown as [ModuleHandle, BuildLogHandle];
    const log = logHandle === 0n ? '' : this.#takeLog(logHandle);
    if (result === RESULTS.SUCCESS) return { module, log };
    const error = this.#device.error(result, 'zeModuleCreate');
    if (error.code !== 'DEVICE_ERROR') throw error;
    const said = log === '' ? 'the driver gave no build log' : log;
    throw new BackendError('DEVICE_ERROR', `${this.#source.name} does not build: ${resultName(result)}: ${said}`, {
      backend: 'level-zero',
      status: result,
    });
  }

  /** The log is read also on success: it has the warnings. */
  #takeLog(log: BuildLogHandle): string {
    const { api } = this.#device;
    const size = new BigUint64Array(1);
    let text = '';
    if (api.zeModuleBuildLogGetString(log, size, null) === RESULTS.SUCCESS && (size[0] ?? 0n) > 0n) {
      const bytes = new Uint8Array(Number(size[0]));
      if (api.zeModuleBuildLogGetString(log, size, bytes) === RESULTS.SUCCESS) {
        const end = bytes.indexOf(0);
        text = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)).trim();
      }
    }
    api.zeModuleBuildLogDestroy(log);
    return text;
  }
}
