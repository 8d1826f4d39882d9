import { expect, it } from 'vitest';
import { parseProfile, type TuningProfile } from './profile.ts';

const device = { vendor: 'acme', name: 'Acme 9000', driver: 'Acme 1.2' };
const maker = { backend: 'webgpu', backendVersion: '1.2.3', device };
const profile: TuningProfile = {
  format: 'concord-webgpu-profile',
  version: 1,
  backendVersion: '1.2.3',
  device,
  tunedAt: '2026-01-02T03:04:05.000Z',
  choices: { 'gemm NN 10 10 10 0': 'gemm/tiled-64x64x16' },
  measured: { 'gemm NN 10 10 10 0': { 'gemm/tiled-64x64x16': 0.5 } },
};

it('reads what it is for', () => {
  expect(parseProfile(JSON.stringify(profile), maker)).toEqual({ profile });
});

it.each([
  ['', /is not JSON/],
  ['{"format": "concord-webgpu-pro', /is not JSON/],
  ['null', /is not a tuning profile/],
  ['[]', /is not a tuning profile/],
  [JSON.stringify({ ...profile, format: 'else' }), /is not a tuning profile/],
  [JSON.stringify({ ...profile, format: 'concord-level-zero-profile' }), /is not a tuning profile of webgpu/],
  [JSON.stringify({ ...profile, version: 2 }), /has version 2, this backend reads 1/],
  [JSON.stringify({ ...profile, backendVersion: '1.2.4' }), /for version 1.2.4 of the backend, this is 1.2.3/],
  [JSON.stringify({ ...profile, device: { ...device, driver: 'Acme 1.3' } }), /of another device or driver .*Acme 1.3/],
  [JSON.stringify({ ...profile, device: { ...device, name: 'Acme 1' } }), /of another device or driver/],
  [JSON.stringify({ ...profile, choices: undefined }), /is damaged: a part is missing/],
  [JSON.stringify({ ...profile, choices: ['gemm'] }), /is damaged: a part is missing/],
  [JSON.stringify({ ...profile, choices: { gemm: 3 } }), /the choice for "gemm" is not a name/],
])('refuses %s', (text, problem) => {
  expect(parseProfile(text, maker)).toEqual({ problem: expect.stringMatching(problem) as unknown });
});
