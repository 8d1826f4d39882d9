import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';

/** The machine that times are taken on. */
export function machine(): Record<string, string | number> {
  const processors = cpus();
  return {
    cpu: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    v8: process.versions.v8,
  };
}

const { resolve } = createRequire(import.meta.url);

/** `name@version` of an installed package, also of one whose exports hide its package.json. */
export function packageVersion(name: string): string {
  for (let folder = dirname(resolve(name)); ; folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (manifest.name === name) return `${name}@${manifest.version ?? '?'}`;
    } catch {
      // No package.json in this folder.
    }
    if (folder === dirname(folder)) return name;
  }
}
