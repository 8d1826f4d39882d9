import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkReportFiles } from './output-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'concord-output-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('takes files that can be made, and none at all', async () => {
  await checkReportFiles(join(folder, 'a.json'), join(folder, 'trace.json'));
  await checkReportFiles(undefined, '-');
  await checkReportFiles(undefined, undefined);
});

test('refuses one place for both, however it is spelt', async () => {
  // Not by join, which would spell them alike.
  for (const other of [`${folder}/b/../a`, `${folder}/./a`, `${folder}//a`]) {
    await expect(checkReportFiles(join(folder, 'a'), other), other).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  }
  await expect(checkReportFiles('-', '-')).rejects.toThrow('cannot both write to standard output');
});

test('refuses a folder, and a file in a folder that is not there, before the run', async () => {
  await expect(checkReportFiles(undefined, folder)).rejects.toThrow(`cannot write ${folder}: it is a folder`);
  await expect(checkReportFiles(join(folder, 'none', 'a.json'), undefined)).rejects.toMatchObject({
    code: 'CANNOT_WRITE',
  });
});
