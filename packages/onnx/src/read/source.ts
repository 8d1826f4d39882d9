import type { ResponseLike, UrlLike } from '@concord/ops';
import { refuse } from '../errors.ts';

/** A model's file: its bytes, a `Response`, a URL, or a path or URL as text. */
export type OnnxSource = ArrayBuffer | Uint8Array | ResponseLike | UrlLike | string;

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
  if (typeof source === 'string') return fetched(source);
  if (typeof source !== 'object' || source === null) throw refuse('a model is bytes, a Response, a URL or a path');
  if ('body' in source) return responseBytes(source, source.url);
  if ('href' in source) return fetched(source.href);
  return new Uint8Array(source);
}

/**
 * The bytes of a file beside a model's.
 *
 * @throws {BackendError} INVALID_ARGUMENT where it is not known what is beside the model
 */
export async function besideOf(source: OnnxSource, file: string): Promise<Uint8Array> {
  const from = typeof source === 'string' ? source : 'href' in source ? source.href : 'url' in source ? source.url : '';
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

async function responseBytes({ ok, status, body }: ResponseLike, from: string): Promise<Uint8Array> {
  if (!ok) throw refuse(`${from} cannot be read: ${status}`);
  return new Uint8Array(await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>> | null).arrayBuffer());
}
