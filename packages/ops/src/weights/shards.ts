import type { WaitOptions } from '@concord/backend-core';
import { describe } from '@concord/backend-core/implement';
import { refuse } from '../tensor/errors.ts';
import { missing } from './by-name.ts';
import { type ByteSource, readBytes } from './byte-source.ts';
import { MAX_HEADER_BYTES } from './format.ts';
import { damaged } from './header.ts';
import { repeatedKey } from './repeated-key.ts';
import { standIn } from './stand-in.ts';

/** A file of a model in several, and which of its tensors are asked for. */
export interface Shard {
  readonly shard: ByteSource;
  readonly names: readonly string[];
}

/** Names of tensors, or a test of a name. */
interface ShardOptions extends Pick<WaitOptions, 'signal'> {
  readonly names?: readonly string[] | ((name: string) => boolean);
}

/**
 * The files of a model that have the tensors asked for, by its index.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what is no index, for names that it does not have and for files elsewhere
 */
export async function readShards(index: ByteSource, { names, signal }: ShardOptions): Promise<readonly Shard[]> {
  const { beside } = index;
  if (beside === undefined) throw refuse('safetensors', `${index.name} has no files beside it`);
  const fileOf = await readWeightMap(index, signal);
  const wanted = typeof names === 'function' ? [...fileOf.keys()].filter(names) : names;
  const absent = wanted?.find((name) => !fileOf.has(name));
  if (absent !== undefined) throw missing(index.name, absent, [...fileOf.keys()]);
  const byFile = new Map<string, string[]>();
  for (const name of wanted ?? fileOf.keys()) {
    const file = fileOf.get(name) as string;
    byFile.set(file, [...(byFile.get(file) ?? []), name]);
  }
  return [...byFile].map(([file, own]) => ({ shard: beside(file), names: own }));
}

async function readWeightMap(index: ByteSource, signal: AbortSignal | undefined): Promise<ReadonlyMap<string, string>> {
  const open = await index.open(signal);
  let text: string;
  try {
    const bytes = await readBytes(open, 0, MAX_HEADER_BYTES);
    const other = standIn(bytes);
    if (other !== undefined) throw refuse('safetensors', `${index.name} is ${other.what}`, { hint: other.hint });
    text = new TextDecoder().decode(bytes);
  } finally {
    await open.close();
  }
  const files = Object.entries(weightMapOf(text, index.name));
  for (const [name, file] of files) {
    // A name with a path in it could name any file of the machine; half a character is no name at all.
    if (typeof file !== 'string' || !/^[^/\\:\p{Cc}\p{Cs}]+\.safetensors$/u.test(file)) {
      throw damaged(`${index.name}: ${name} is in ${describe(file)}, which is not the name of a .safetensors file`);
    }
  }
  return new Map(files as [string, string][]);
}

function weightMapOf(text: string, name: string): object {
  let index: { readonly weight_map?: unknown } | null;
  try {
    index = JSON.parse(text) as { readonly weight_map?: unknown } | null;
  } catch (cause) {
    throw refuse('safetensors', `${name} is not JSON`, { cause });
  }
  const repeated = repeatedKey(text);
  if (repeated !== undefined) throw damaged(`${name} has the key ${repeated} twice, or where none may be`);
  const map = index?.weight_map;
  if (typeof map !== 'object' || map === null) throw damaged(`${name} has no weight_map`);
  return map;
}
