import { type ByteSource, byteSource, readBytes, type SafetensorsSource } from '@concord/ops';
import { standIn } from '@concord/ops/listen';
import { errorOf, refuse } from '../errors.ts';

/**
 * A model's file: its bytes, a `Response`, a `Blob`, a URL, a path or URL as text, or a `ByteSource` such as
 * `byteSource(url, pageCache())`, which is fetched once.
 */
export type OnnxSource = SafetensorsSource;

/** The parts of Node that need no import, which bundlers would follow. */
interface NodeProcess {
  getBuiltinModule?(name: 'node:fs'): NodeFiles;
}

interface NodeFiles {
  readonly promises: { readFile(path: string | URL): Promise<Uint8Array> };
}

/**
 * The bytes of a model's file, or of one beside it.
 *
 * @throws {BackendError} INVALID_ARGUMENT for one that cannot be read or is a page instead, and where it is not known what is
 *   beside the model
 */
export async function bytesOf(source: OnnxSource, file?: string): Promise<Uint8Array> {
  try {
    if (source instanceof Uint8Array && file === undefined) return checked(`${source.length} bytes`, source);
    const path = pathOf(source);
    if (path !== undefined) return checked(path, await readPath(path, file));
    const model = byteSource(source);
    const own = file === undefined ? model : besideOf(model, file);
    const open = await own.open();
    try {
      return checked(own.name, await readBytes(open, 0, Infinity));
    } finally {
      await open.close();
    }
  } catch (error) {
    throw errorOf(undefined, error, file ?? 'the model');
  }
}

function checked(name: string, bytes: Uint8Array): Uint8Array {
  const other = standIn(bytes);
  if (other !== undefined) throw refuse(`${name} is ${other.what}`, { hint: other.hint });
  return bytes;
}

function besideOf({ beside }: ByteSource, file: string): ByteSource {
  if (beside !== undefined) return beside(file);
  throw refuse('tensors of the model lie in this file, and it is not known where that is', {
    hint: 'give it as externalData, or open the model by its path or URL',
  });
}

const node = (globalThis as { process?: NodeProcess }).process?.getBuiltinModule?.('node:fs');

/** Returns the path of a file of this machine, in Node. */
function pathOf(source: OnnxSource): string | undefined {
  const text = typeof source === 'string' ? source : 'href' in Object(source) ? (source as URL).href : undefined;
  const isPath = text !== undefined && /^(file:|(?![a-z][a-z0-9+.-]+:))/i.test(text);
  return isPath && node !== undefined ? text : undefined;
}

async function readPath(path: string, file: string | undefined): Promise<Uint8Array> {
  const whole = file === undefined ? path : path.replace(/[^/\\]*$/, '') + file;
  const from = whole.startsWith('file:') ? new URL(whole) : whole;
  try {
    return await (node as NodeFiles).promises.readFile(from);
  } catch (cause) {
    throw refuse(`${whole} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
