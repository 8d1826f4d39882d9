// @ts-check
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('is built', () => {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  execFileSync(process.execPath, ['build.mjs'], { cwd: folder, stdio: 'pipe' });
  expect(existsSync(`${folder}dist/index.html`)).toBe(true);
});
