// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../lib/paths.mjs';

const folder = join(root, '.github/workflows');

test.each(readdirSync(folder))('%s pins its actions by commit, and says which version that is', (file) => {
  const uses = readFileSync(join(folder, file), 'utf8').match(/uses:.*/g) ?? [];
  expect(uses).not.toEqual([]);
  for (const line of uses) expect(line).toMatch(/^uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
