import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchFolder } from './watch-folder.ts';

let folder: string;
let end: AbortController;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concord-watch-'));
  end = new AbortController();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('updates at once and after changes, also those during an update and in new folders, one at a time', async () => {
  let running = 0;
  let updates = 0;
  const watching = watchFolder(folder, end.signal, async () => {
    expect(++running).toBe(1);
    updates++;
    if (updates === 1) await writeFile(join(folder, 'during.md'), 'x');
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
  });
  const reach = (count: number): Promise<void> =>
    vi.waitFor(() => expect(updates).toBeGreaterThanOrEqual(count), { timeout: 20_000, interval: 10 });
  await reach(2);
  await mkdir(join(folder, 'new'));
  await reach(3);
  const before = updates;
  await vi.waitFor(
    async () => {
      await writeFile(join(folder, 'new', 'a.md'), String(updates));
      expect(updates).toBeGreaterThan(before);
    },
    { timeout: 20_000, interval: 100 },
  );
  end.abort();
  await watching;
});

test('ends with the error of an update', async () => {
  await expect(watchFolder(folder, end.signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
