import { refuse } from '../errors.ts';

/** A model's file: its bytes, a `Response`, a URL, or a path or URL as text. */
export type OnnxSource = ArrayBufferLike | Uint8Array | Response | URL | string;

/** What Node has without an import, which bundlers would follow. */
interface NodeProcess {
  getBuiltinModule?(name: 'node:fs'): { promises: { readFile(path: string | URL): Promise<Uint8Array> } };
}

/**
 * The bytes of a model's file.
 *
 * @throws {BackendError} INVALID_ARGUMENT for one that cannot be read
 */
export async function bytesOf(source: OnnxSource): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source;
  if (typeof source === 'string' || source instanceof URL) return fetched(String(source));
  if ('body' in source && 'ok' in source) return responseBytes(source, source.url);
  if ('byteLength' in source) return new Uint8Array(source);
  throw refuse('a model is bytes, a Response, a URL or a path');
}

/**
 * The bytes of a file beside a model's.
 *
 * @throws {BackendError} INVALID_ARGUMENT where it is not known what is beside the model
 */
export async function besideOf(source: OnnxSource, file: string): Promise<Uint8Array> {
  const from =
    typeof source === 'string' || source instanceof URL
      ? String(source)
      : source instanceof Uint8Array || !('url' in source)
        ? ''
        : source.url;
  if (from === '') {
    throw refuse(`tensors of the model lie in the file ${file}`, {
      hint: 'give it as externalData, or open the model by its path or URL',
    });
  }
  return isUrl(from) ? fetched(new URL(file, from).href) : fetched(from.replace(/[^/\\]*$/, '') + file);
}

const isUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]+:/i.test(text);

async function fetched(from: string): Promise<Uint8Array> {
  const { process, location } = globalThis as { process?: NodeProcess; location?: { href: string } };
  const node = process?.getBuiltinModule?.('node:fs');
  if (node !== undefined && (!isUrl(from) || from.startsWith('file:'))) {
    try {
      return await node.promises.readFile(from.startsWith('file:') ? new URL(from) : from);
    } catch (cause) {
      throw refuse(`${from} cannot be read`, { cause });
    }
  }
  return responseBytes(await fetch(isUrl(from) ? from : new URL(from, location?.href).href), from);
}

async function responseBytes(response: Response, from: string): Promise<Uint8Array> {
  if (!response.ok) throw refuse(`${from} cannot be read: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}
