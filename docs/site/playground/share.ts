import { compressToEncodedURIComponent, decompressFromEncodedURIComponent } from 'lz-string';
import { BACKEND_NAMES, type BackendName } from './backend-names.ts';

/** The program and the backend that an address holds. */
export interface Shared {
  readonly source: string;
  readonly backend: BackendName;
}

const PREFIX = '#code=';

/** Characters of a program in an address. */
export const MAX_SOURCE = 100_000;

/** Characters of the compressed program. Memory for reading one grows with its square: to some 50 million characters. */
const MAX_HASH = 20_000;

/**
 * The part of an address after its page: the program, compressed.
 *
 * @throws {Error} where the program is too long for {@link sharedIn}
 */
export function hashOf({ source, backend }: Shared): string {
  checkLength('program', source, MAX_SOURCE);
  const compressed = compressToEncodedURIComponent(JSON.stringify({ source, backend }));
  checkLength('compressed program', compressed, MAX_HASH);
  return `${PREFIX}${compressed}`;
}

/**
 * Decodes the fragment of an address.
 *
 * @returns undefined where it holds no program: it may be that of a heading
 * @throws {Error} where it begins as one and cannot be read, as after a cut, or is too long
 */
export function sharedIn(hash: string): Shared | undefined {
  if (!hash.startsWith(PREFIX)) return undefined;
  const compressed = hash.slice(PREFIX.length);
  checkLength('compressed program', compressed, MAX_HASH);
  const text = decompressFromEncodedURIComponent(compressed);
  const { source, backend } = parsed(text);
  if (typeof source !== 'string') throw new Error('the address holds no whole program: a part of it is missing');
  checkLength('program', source, MAX_SOURCE);
  return { source, backend: BACKEND_NAMES.find((name) => name === backend) ?? 'webgpu' };
}

function checkLength(what: string, { length }: string, limit: number): void {
  if (length <= limit) return;
  const [got, most] = [length, limit].map((count) => count.toLocaleString('en'));
  throw new Error(`the ${what} has ${got} characters; an address may hold ${most}`);
}

function parsed(text: string | null): { readonly source?: unknown; readonly backend?: unknown } {
  try {
    return (JSON.parse(text ?? '') ?? {}) as { source?: unknown };
  } catch {
    return {};
  }
}
