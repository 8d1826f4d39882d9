import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchJson } from '@concord/cli';
import { expect, it } from 'vitest';
import { COLUMNS, devicesOf, fileNameOf, type MeasuredDevice } from '../playground/gpu/devices.ts';

const folder = join(import.meta.dirname, '../devices');

it.each(readdirSync(folder))('%s is a device of the table, under its name', (name) => {
  const device = JSON.parse(readFileSync(join(folder, name), 'utf8')) as MeasuredDevice;
  expect(fileNameOf(device)).toBe(name);
  expect(device.date).toMatch(/^\d{4}-\d\d-\d\d$/);
  for (const [id] of COLUMNS) expect(device.speeds[id], id).toBeGreaterThan(0);
});

it('a benchmark gives each of its devices, if it is whole', () => {
  const speed = { median: 12.3456, p10: 1, p90: 20 };
  const run = {
    ...{ interrupted: false, date: '2026-11-28T10:00:00Z', versions: { concord: '0.1.0', host: 'Chrome/156' } },
    backends: [
      { backend: 'webgpu', device: { name: 'A GPU (rev. 2)' } },
      { backend: 'wasm', device: null },
    ],
    cases: [{ id: 'gemm/a', results: [{ backend: 'webgpu', status: 'ok', speed }] }],
  } as unknown as BenchJson;
  const [device, ...others] = devicesOf(run);
  expect(others).toEqual([]);
  expect(device).toMatchObject({
    device: 'A GPU (rev. 2)',
    host: 'Chrome/156',
    date: '2026-11-28',
    speeds: { 'gemm/a': 12.3 },
  });
  expect(fileNameOf(device!)).toBe('webgpu-a-gpu-rev-2.json');
  expect(devicesOf({ ...run, interrupted: true })).toEqual([]);
  expect(devicesOf({ ...run, op: 'gemm' })).toEqual([]);
});
