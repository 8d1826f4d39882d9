import { type PathLike, readdir } from 'node:fs';
import { basename } from 'node:path';
import { type GlobOptions, glob } from 'tinyglobby';

/** What {@link listFiles} found. */
export interface FileList {
  /** Relative to the folder, with `/`: the folder's own, sorted, then those of installed packages, sorted. */
  readonly paths: readonly string[];
  readonly unreadableFolders: number;
}

const TEXT = 'md,markdown,txt,rst,adoc';
const README = new RegExp(`^readme([._-][\\w-]+)?\\.(${TEXT.replaceAll(',', '|')})$|^readme$`, 'i');
const LEFT_OUT = ['**/.git/**', '**/dist/**', '**/coverage/**', '**/.cache/**', '**/.turbo/**', '**/.venv/**'];

/**
 * The text and Markdown files below `folder`, and the README files of the packages installed there. Symbolic links are
 * not followed: pnpm links each package many times.
 */
export async function listFiles(folder: string, signal: AbortSignal): Promise<FileList> {
  const unreadable = new Set<string>();
  const options: GlobOptions = {
    cwd: folder,
    followSymbolicLinks: false,
    caseSensitiveMatch: false,
    expandDirectories: false,
    signal,
    fs: {
      // The library passes over folders that cannot be read; they are to be counted.
      readdir: noteFailures((path) => unreadable.add(path)),
    },
  };
  const own = await glob(`**/*.{${TEXT}}`, { ...options, ignore: [...LEFT_OUT, '**/node_modules/**'] });
  const installed = await glob('**/node_modules/**/readme*', { ...options, dot: true, ignore: ['**/.git/**'] });
  const readmes = installed.filter((path) => README.test(basename(path)));
  return { paths: [...new Set([...own.sort(), ...readmes.sort()])], unreadableFolders: unreadable.size };
}

/** Whether a path of {@link listFiles} is that of an installed package. */
export function isInstalled(path: string): boolean {
  return path.split('/').includes('node_modules');
}

type ReadDirectory = NonNullable<NonNullable<GlobOptions['fs']>['readdir']>;

function noteFailures(onFailure: (path: string) => void): ReadDirectory {
  const noting = (path: PathLike, options: { withFileTypes: true }, done: (...result: unknown[]) => void): void => {
    readdir(path, options, (error, entries) => {
      if (error !== null) onFailure(String(path));
      done(error, entries);
    });
  };
  return noting as ReadDirectory;
}
