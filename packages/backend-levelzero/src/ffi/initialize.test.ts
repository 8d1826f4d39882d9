import { expect, it } from 'vitest';
import { diagnose, type SystemView } from './initialize.ts';

const ABSENT = 'cannot open shared object file: No such file or directory';
const SAID = 'zeInit returned ZE_RESULT_ERROR_UNINITIALIZED (0x78000001)';

function system(view: Partial<SystemView>): SystemView {
  return {
    platform: 'linux',
    env: {},
    exists: () => true,
    loadFailure: () => undefined,
    renderNodes: () => ['/dev/dri/renderD128'],
    canUse: () => true,
    ...view,
  };
}

it.each<[string, Partial<SystemView>, string, RegExp]>([
  ['no driver of Intel is installed', { loadFailure: () => ABSENT }, 'library-missing', /the loader is here.*is not/],
  [
    'the driver lacks a library',
    { loadFailure: (file) => (file.includes('legacy') ? ABSENT : `libigdgmm.so.12: ${ABSENT}`) },
    'library-incompatible',
    /libze_intel_gpu.so.1 does not load: libigdgmm.so.12/,
  ],
  ['there is no GPU', { renderNodes: () => [] }, 'no-device', /no \/dev\/dri\/renderD\*/],
  ['the GPU is not ours to use', { canUse: () => false }, 'permission-denied', /read and write \/dev\/dri\/renderD128/],
  ['the GPU is of another vendor', {}, 'no-device', /finds no GPU of Intel's/],
  ['a mask hides it', { env: { ZE_AFFINITY_MASK: '7' } }, 'no-device', /ZE_AFFINITY_MASK=7 may hide it/],
  ['on Windows', { platform: 'win32', loadFailure: () => ABSENT }, 'no-device', /no driver has a device/],
  [
    'a mask hides the devices of another driver',
    { env: { ZE_ENABLE_ALT_DRIVERS: '/opt/a.so', ZE_AFFINITY_MASK: '7' } },
    'no-device',
    /a.so, which loads; ZE_AFFINITY_MASK=7 may hide/,
  ],
  [
    'the other driver is not there',
    { env: { ZE_ENABLE_ALT_DRIVERS: '/opt/a.so' }, exists: () => false },
    'library-missing',
    /\/opt\/a.so is not there/,
  ],
  [
    'the other driver does not load',
    { env: { ZE_ENABLE_ALT_DRIVERS: '/opt/a.so' }, loadFailure: () => 'invalid ELF header' },
    'library-incompatible',
    /does not load: invalid ELF header/,
  ],
  [
    'the other driver does not start',
    { env: { ZE_ENABLE_ALT_DRIVERS: '/opt/a.so' } },
    'failed',
    /loads and does not start/,
  ],
])('says that %s', (_, view, reason, message) => {
  const error = diagnose(SAID, system(view));
  expect(error).toMatchObject({ code: 'BACKEND_UNAVAILABLE', reason, detail: expect.stringMatching(message) });
  expect(error.detail.startsWith(SAID)).toBe(true);
  expect(error.hint).toBeTruthy();
});
