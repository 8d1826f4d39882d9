// @ts-check
import { expect, it } from 'vitest';
import { devicesOf } from '../lib/set-up-devices.mjs';

it('a project has the devices that it uses set up, and no others', () => {
  expect(devicesOf(['--project', 'backend-cpu'])).toEqual([]);
  expect(devicesOf(['--project=backend-levelzero', '--reporter=dot'])).toEqual(['level-zero', 'intel']);
  expect(devicesOf(['--project', 'ops', '--project', 'site'])).toEqual(['vulkan', 'level-zero', 'chromium']);
});

it('a new backend has none set up', () => {
  expect(devicesOf(['--project', 'backend-my-device'])).toEqual([]);
});

it('all are set up for all tests, for a file, and for a project that is not known to need fewer', () => {
  const all = devicesOf([]);
  expect(all).toContain('redis');
  expect(devicesOf(['packages/backend-cpu/src/kernels/gemm'])).toEqual(all);
  expect(devicesOf(['--project', 'backend-*'])).toEqual(all);
});
