import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '..', 'src');

/** The modules loaded before a module runs: the packages it names, and those of its own modules. */
function packagesLoadedBy(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  for (const [, from = ''] of text.matchAll(/^(?:import|export)(?! type)[^;]*? from '([^']+)';$/gm)) {
    if (!from.startsWith('.')) packages.add(from);
    else for (const each of packagesLoadedBy(join(dirname(file), from), seen)) packages.add(each);
  }
  return packages;
}

// The backends and the suite take a second of CPU time to load, which help has to do without.
test('the command starts without the backends and the suite', () => {
  const loaded = [...packagesLoadedBy(join(SOURCE, 'main.ts'))].filter((name) => !name.startsWith('node:'));
  expect(loaded.sort()).toEqual(['@concord/backend-core', 'commander', 'picocolors']);
  expect([...packagesLoadedBy(join(SOURCE, 'providers.ts'))]).toContain('@concord/backend-webgpu');
});

test('what pages take needs nothing of Node', () => {
  expect([...packagesLoadedBy(join(SOURCE, 'reports.ts'))]).toEqual(['@concord/backend-core/kernel']);
});

test('the benchmark as a library loads nothing of Node and no device: it is for pages too', () => {
  expect([...packagesLoadedBy(join(SOURCE, 'bench/index.ts'))].sort()).toEqual([
    ...['@concord/backend-core', '@concord/backend-core/kernel', '@concord/backend-cpu/reference'],
  ]);
});
