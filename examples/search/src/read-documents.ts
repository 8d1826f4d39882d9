import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '@concord/example-command';
import { isBinaryFile } from 'isbinaryfile';
import { glob } from 'tinyglobby';

type Document = Readonly<{ path: string; stamp: string; text: string | undefined }>;
/** Files by their paths, relative to the folder, with `/`: a stamp that changes with the file, and its text, if it has any. */
export type Documents = ReadonlyMap<string, Document>;
const TEXT = '**/*.{md,markdown,txt,rst,adoc}';
const IGNORED = '**/{.git,node_modules,dist,coverage,.cache,.turbo,.venv}/**';
const OPEN_AT_ONCE = 32;

/**
 * The files below a folder that may be text, sorted. Those that did not change since are the `known` ones, not read again.
 *
 * @throws {UserError} NO_SUCH_FOLDER
 */
export async function readDocuments(folder: string, signal: AbortSignal, known?: Documents): Promise<Documents> {
  if ((await stat(folder).catch(() => undefined))?.isDirectory() !== true) {
    throw new UserError('NO_SUCH_FOLDER', `there is no folder ${folder}`, { hint: 'give --dir a folder that exists' });
  }
  const options = { ignore: IGNORED, followSymbolicLinks: false, caseSensitiveMatch: false, signal };
  const paths = await glob(TEXT, { ...options, cwd: folder, expandDirectories: false });
  const documents: Document[] = [];
  while (documents.length < paths.length && !signal.aborted) {
    const batch = paths.sort().slice(documents.length, documents.length + OPEN_AT_ONCE);
    documents.push(...(await Promise.all(batch.map((path) => readDocument(folder, path, known?.get(path))))));
  }
  signal.throwIfAborted();
  return new Map(documents.map((document) => [document.path, document]));
}

async function readDocument(folder: string, path: string, known?: Document): Promise<Document> {
  try {
    // Before it is read, so that a change in between is seen the next time.
    const { ctimeMs, size } = await stat(join(folder, path));
    const stamp = `${ctimeMs} ${size}`;
    if (known?.stamp === stamp) return known;
    const bytes = await readFile(join(folder, path));
    return { path, stamp, text: (await isBinaryFile(bytes, bytes.length)) ? undefined : bytes.toString() };
  } catch {
    return { path, stamp: 'unreadable', text: undefined };
  }
}
