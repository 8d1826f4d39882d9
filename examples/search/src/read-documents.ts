import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isBinaryFile } from 'isbinaryfile';
import { listFiles } from './list-files.ts';
import { UserError } from '@concord/example-command';

/** One file. */
export interface Document {
  /** Relative to the folder searched, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** What was read, and how much could not be. */
export interface Documents {
  readonly documents: readonly Document[];
  readonly skipped: { readonly binary: number; readonly unreadable: number };
}

/** How a file is read; another one in tests. */
export type ReadBytes = (path: string, options: { readonly signal: AbortSignal }) => Promise<Buffer>;

/** Options of {@link readDocuments}. */
export interface ReadOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
  readonly readBytes?: ReadBytes;
}

/** Files open at once. */
const CONCURRENCY = 32;

/**
 * Checks that there is such a folder.
 *
 * @throws {UserError} NO_SUCH_FOLDER
 */
export async function checkFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats === undefined) {
    throw new UserError('NO_SUCH_FOLDER', `there is no folder ${folder}`, { hint: 'give --dir a folder that exists' });
  }
  if (!stats.isDirectory()) {
    throw new UserError('NO_SUCH_FOLDER', `${folder} is no folder`, {
      hint: 'give --dir the folder that holds the file',
    });
  }
}

/** Reads all text files below `folder`. What is binary or cannot be read is counted and passed over. */
export async function readDocuments(
  folder: string,
  { signal, onProgress, readBytes = readFile }: ReadOptions,
): Promise<Documents> {
  const { paths, unreadableFolders } = await listFiles(folder, signal);
  // An aborted listing is an empty one.
  signal.throwIfAborted();
  const documents: Document[] = [];
  const skipped = { binary: 0, unreadable: unreadableFolders };
  for (let start = 0; start < paths.length; start += CONCURRENCY) {
    signal.throwIfAborted();
    onProgress?.(start, paths.length);
    const batch = paths.slice(start, start + CONCURRENCY);
    const texts = await Promise.all(batch.map((path) => readText(join(folder, path), signal, readBytes)));
    for (const [index, path] of batch.entries()) {
      const text = texts[index];
      if (text === 'unreadable' || text === 'binary') skipped[text]++;
      else if (text !== undefined) documents.push({ path, text: text.content });
    }
  }
  return { documents, skipped };
}

async function readText(
  path: string,
  signal: AbortSignal,
  readBytes: ReadBytes,
): Promise<{ readonly content: string } | 'unreadable' | 'binary'> {
  const bytes = await readBytes(path, { signal }).catch(() => undefined);
  if (bytes === undefined) return 'unreadable';
  return (await isBinaryFile(bytes, bytes.length)) ? 'binary' : { content: bytes.toString('utf8') };
}
