import { compressToEncodedURIComponent, decompressFromEncodedURIComponent } from 'lz-string';
import { BACKEND_NAMES, type BackendName } from './backend-names.ts';

/** The program and the backend that an address holds. */
export interface Shared {
  readonly source: string;
  readonly backend: BackendName;
}

const PREFIX = '#code=';

/** The part of an address after its page: the program, compressed. */
export function hashOf({ source, backend }: Shared): string {
  return `${PREFIX}${compressToEncodedURIComponent(JSON.stringify({ source, backend }))}`;
}

/**
 * Decodes the fragment of an address.
 *
 * @returns undefined where it holds no program: it may be that of a heading
 * @throws {Error} where it begins as one and cannot be read, as after a cut
 */
export function sharedIn(hash: string): Shared | undefined {
  if (!hash.startsWith(PREFIX)) return undefined;
  const text = decompressFromEncodedURIComponent(hash.slice(PREFIX.length));
  const { source, backend } = parsed(text);
  if (typeof source !== 'string') throw new Error('the address holds no whole program: a part of it is missing');
  return { source, backend: BACKEND_NAMES.find((name) => name === backend) ?? 'webgpu' };
}

function parsed(text: string | null): { readonly source?: unknown; readonly backend?: unknown } {
  try {
    return (JSON.parse(text ?? '') ?? {}) as { source?: unknown };
  } catch {
    return {};
  }
}
