import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { candidateLibraries, isAbsent, loadLevelZero } from './load.ts';
import { koffiTypes } from './prototypes.ts';
import { resultError, resultName } from './result.ts';

it('a path that is not there', async () => {
  await expect(loadLevelZero('/nowhere/libze_loader.so.1')).rejects.toMatchObject({
    code: 'BACKEND_UNAVAILABLE',
    reason: 'library-missing',
    detail: expect.stringContaining('/nowhere/libze_loader.so.1: cannot open shared object file'),
    hint: expect.stringContaining('apt install libze1'),
  });
});

it('a library that is not Level Zero', async () => {
  await expect(loadLevelZero('libm.so.6')).rejects.toMatchObject({
    reason: 'library-incompatible',
    detail: expect.stringContaining('libm.so.6: has no function zeInit'),
  });
});

it('a file that is no library', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concord-load-'));
  const file = join(folder, 'libze_loader.so.1');
  writeFileSync(file, 'not an ELF file, but long enough to look like something'.repeat(4));
  await expect(loadLevelZero(file)).rejects.toMatchObject({
    reason: 'library-incompatible',
    detail: expect.stringMatching(/libze_loader.so.1: .*(invalid ELF|too short)/),
  });
  rmSync(folder, { recursive: true });
});

it('what is missing once is looked for again', async () => {
  const [first, second] = await Promise.allSettled([loadLevelZero('/nowhere/x.so'), loadLevelZero('/nowhere/x.so')]);
  expect(first.status).toBe('rejected');
  expect(second.status).toBe('rejected');
  await expect(loadLevelZero('/nowhere/x.so')).rejects.toMatchObject({ reason: 'library-missing' });
});

it('only the absence of the file itself counts as missing', () => {
  expect(isAbsent('cannot open shared object file: No such file or directory')).toBe(true);
  expect(isAbsent('libdep.so.3: cannot open shared object file: No such file or directory')).toBe(false);
  expect(isAbsent('cannot open shared object file: Permission denied')).toBe(false);
  expect(isAbsent('invalid ELF header')).toBe(false);
});

it('candidates by platform', () => {
  const on = (platform: string, arch = 'x64', env = {}): readonly string[] =>
    candidateLibraries({ platform, arch, env });
  expect(on('linux').slice(0, 2)).toEqual(['libze_loader.so.1', 'libze_loader.so']);
  expect(on('win32', 'x64', { SystemRoot: 'D:\\Win' })).toEqual(['ze_loader.dll', 'D:\\Win\\System32\\ze_loader.dll']);
  expect(on('darwin')).toEqual([]);
  expect(on('linux', 'arm64')).toEqual([]);
});

it('handles and addresses are pointers, numbers have their sizes', () => {
  expect(koffiTypes('zeKernelSetArgumentValue')).toEqual(['void *', 'uint32_t', 'size_t', 'void *']);
  expect(koffiTypes('zeFenceHostSynchronize')).toEqual(['void *', 'uint64_t']);
});

it('results have names, numbers and codes', () => {
  expect(resultName(0x70000004)).toBe('ZE_RESULT_ERROR_MODULE_BUILD_FAILURE (0x70000004)');
  expect(resultName(0x12345678)).toBe('an unknown result, 0x12345678');
  expect(resultError(0x70000001, 'zeFenceQueryStatus')).toMatchObject({ code: 'DEVICE_LOST', status: 0x70000001 });
  expect(resultError(0x70000002, 'zeMemAllocHost')).toMatchObject({ code: 'OUT_OF_MEMORY' });
  expect(resultError(0x70000003, 'zeMemAllocDevice')).toMatchObject({ code: 'OUT_OF_MEMORY' });
  expect(resultError(0x7ffffffe, 'zeFenceReset')).toMatchObject({
    code: 'DEVICE_ERROR',
    detail: 'zeFenceReset returned ZE_RESULT_ERROR_UNKNOWN (0x7ffffffe)',
  });
});
