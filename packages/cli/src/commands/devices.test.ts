import { afterEach, expect, test, vi } from 'vitest';
import { ExcludingBackend, missing, run, throwing, working } from '../../test/fakes.ts';
import type { DevicesReport } from '../inspect-devices.ts';

afterEach(() => vi.unstubAllEnvs());

const gpu = working('webgpu', { type: 'discrete', name: 'Acme Fast 9000', memoryBytes: 16 * 2 ** 30 });
const cpu = working('cpu');

test('shows each backend with its device, and which one is picked', async () => {
  const { code, stdout, stderr } = await run(['devices'], [cpu, gpu, missing('level-zero')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^webgpu +picked +Acme Fast 9000 +discrete +16 GiB$/m);
  expect(stdout).toMatch(/^cpu +available +cpu device +cpu +-$/m);
  expect(stdout).toMatch(/^level-zero +unavailable/m);
  expect(stdout).toMatch(/^ +no adapter was found \(no-device\)$/m);
  expect(stdout).toMatch(/^ +hint: install a driver$/m);
  expect(stdout).toMatch(/^ +driver: Acme 1\.2 \(vendor: Acme\)$/m);
  expect(stdout).toMatch(/^Picked: webgpu - works, and ranks first/m);
});

test('shows what a device is made of, where its driver tells', async () => {
  const parts = async (device: object): Promise<string | undefined> => {
    const { stdout } = await run(['devices'], [working('level-zero', device)]);
    return /^ +(parts: .*)$/m.exec(stdout)?.[1];
  };
  expect(await parts({})).toBeUndefined();
  expect(await parts({ computeUnits: 1 })).toBe('parts:  1 compute unit, no sub-devices');
  expect(await parts({ computeUnits: 1024, subDevices: 2 })).toBe('parts:  1,024 compute units, 2 sub-devices');
});

test('keeps to 80 columns, however long the names are', async () => {
  const long = working('cpu', {
    name: 'A very long name of a device '.repeat(6),
    driver: 'and of a driver '.repeat(12),
  });
  const { stdout } = await run(['devices'], [long]);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('a probe that throws is an answer, and no device at all an exit code', async () => {
  const { code, stdout } = await run(['devices'], [throwing('webgpu'), missing('level-zero')]);
  expect(code).toBe(3);
  expect(stdout).toContain('segment not found (failed)');
  expect(stdout).toContain('Picked: none');
});

test('prints the same as JSON', async () => {
  const { code, stdout } = await run(['devices', '--json'], [cpu, missing('webgpu')]);
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as DevicesReport;
  expect(Object.keys(report)).toEqual(['picked', 'concordBackend', 'backends', 'attempts']);
  expect(report).toMatchObject({ picked: 'cpu', concordBackend: null });
  expect(report.backends[0]).toMatchObject({
    name: 'cpu',
    available: true,
    device: { name: 'cpu device', type: 'cpu', vendor: 'Acme', driver: 'Acme 1.2' },
    limits: { maxHeadDim: expect.any(Number), maxTopK: expect.any(Number), maxAllocationBytes: expect.any(Number) },
    dtypes: { gemm: ['f32', 'f16', 'bf16'] },
  });
  expect(report.backends[1]).toEqual({
    name: 'webgpu',
    available: false,
    reason: 'no-device',
    message: 'no adapter was found',
    hint: 'install a driver',
  });
});

test('--verbose builds every variant, and says which do not build and why', async () => {
  const some = working('webgpu', {}, ExcludingBackend);
  const { code, stdout, stderr } = await run(['devices', '--verbose'], [some]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^ +variants: 1 built, 2 excluded:$/m);
  expect(stdout).toMatch(/^ +reduce\/b: kernel reduce\/b f32 does not build\n +error: line 1\n +error: line 2$/m);
  expect(stdout).toMatch(/^ +reduce\/c: reduce\/c fell apart$/m);
  expect((await run(['devices'], [some])).stdout).not.toContain('variants:');
  const json = JSON.parse((await run(['devices', '--json', '--verbose'], [some])).stdout) as DevicesReport;
  expect(json.backends[0]).toMatchObject({
    variants: { built: ['reduce/a'], excluded: [{ id: 'reduce/c' }, { id: 'reduce/b' }] },
  });
});

test('honours CONCORD_BACKEND, and still shows what it leaves out', async () => {
  vi.stubEnv('CONCORD_BACKEND', 'cpu');
  const { stdout } = await run(['devices'], [gpu, cpu]);
  expect(stdout).toMatch(/^webgpu +left out +Acme Fast 9000/m);
  expect(stdout).toMatch(/^Picked: cpu .*\(CONCORD_BACKEND=cpu\)$/m);
});

test('names the backends there are where CONCORD_BACKEND names another', async () => {
  vi.stubEnv('CONCORD_BACKEND', 'gpu');
  const { code, stderr } = await run(['devices'], [gpu, cpu]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: no backend "gpu"; there are: webgpu, cpu \(INVALID_ARGUMENT\)\nhint: .*\n$/);
});

test('colours terminals, unless NO_COLOR says otherwise', async () => {
  vi.stubEnv('TERM', 'xterm');
  vi.stubEnv('NO_COLOR', '');
  vi.stubEnv('FORCE_COLOR', '');
  expect((await run(['devices'], [cpu], { isTTY: true })).stdout).toContain('\u001b[');
  expect((await run(['devices'], [cpu])).stdout).not.toContain('\u001b[');
  vi.stubEnv('NO_COLOR', '1');
  expect((await run(['devices'], [cpu], { isTTY: true })).stdout).not.toContain('\u001b[');
});

test('no control characters of a driver or a provider reach the terminal', async () => {
  const hostile = '\u001B]0;gone\u0007\u001B[2J\rAcme\u009B1m';
  const device = working('webgpu', { name: `${hostile} 9000`, driver: hostile, vendor: hostile });
  const broken = {
    ...missing('level-zero'),
    probe: async () => ({ available: false, reason: 'failed', message: hostile, hint: hostile }) as const,
  };
  const thrower = { ...missing('cpu'), probe: () => Promise.reject(new Error(hostile)) };
  for (const args of [['devices'], ['devices', '--verbose'], ['conformance', '--backend', 'level-zero']]) {
    const { stdout, stderr } = await run(args, [device, broken, thrower]);
    expect(stdout + stderr).not.toMatch(/(?!\n)\p{Cc}/u);
    expect(stdout + stderr).toContain(String.raw`\u001b[2J`);
  }
});
