import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DTYPES, OP_NAMES } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { TuneJson } from '../src/index.ts';
import { IdleBackend, ExcludingBackend, missing, run, throwing, working } from './fakes.ts';

const FOLDER = join(import.meta.dirname, '../schema');
const cpu = working('cpu');
const idle = working('idle', { memoryBytes: 2 ** 34, computeUnits: 8, subDevices: 0 }, IdleBackend);
const all = [missing('level-zero'), throwing('webgpu'), idle, cpu];

const schemaOf = (name: string): AnySchemaObject =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as AnySchemaObject;

/** The files are open, so that a later version may add a field. Here a field that they do not name is a mistake. */
const closed = (_: string, part: unknown): unknown =>
  typeof part === 'object' && part !== null && 'properties' in part && 'type' in part
    ? { ...part, additionalProperties: false }
    : part;

function validatorOf(name: string): ValidateFunction {
  const schema = JSON.parse(JSON.stringify(schemaOf(name)), closed) as AnySchemaObject;
  return new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);
}

function expectValid(name: string, text: string): unknown {
  const validate = validatorOf(name);
  const value: unknown = JSON.parse(text);
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
  return value;
}

afterEach(() => vi.unstubAllEnvs());

test('there is one for every command that has --json, and each is a schema of that name', async () => {
  const names = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
  const { stdout } = await run(['--help'], all);
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name = '']) => name);
  expect(commands).toContain('devices');
  const withJson = [];
  for (const name of commands) {
    if ((await run([name, '--help'], all)).stdout.includes('--json')) withJson.push(name);
  }
  expect(names.sort()).toEqual([...new Set(withJson)].sort());
  for (const name of names) expect(schemaOf(name)['$id']).toBe(`concord-${name}`);
});

test('the names of ops and element types in them are those of the contract', () => {
  const enums = (part: unknown): string[][] => {
    if (typeof part !== 'object' || part === null) return [];
    return Object.entries(part).flatMap(([key, value]) => (key === 'enum' ? [value as string[]] : enums(value)));
  };
  const all = readdirSync(FOLDER).flatMap((file) => enums(schemaOf(file.replace(/\.json$/, ''))));
  const ops = all.filter((names) => names.includes('gemm'));
  const besides = ['memory', 'lifecycle', 'replay'];
  expect(ops.length).toBeGreaterThan(3);
  for (const names of ops) expect(names.filter((name) => !besides.includes(name))).toEqual([...OP_NAMES]);
  const dtypes = all.filter((names) => names.includes('f16'));
  expect(dtypes.length).toBeGreaterThan(0);
  for (const names of dtypes) expect(names).toEqual([...DTYPES]);
});

describe('devices', () => {
  test.each([[''], ['cpu']])('with CONCORD_BACKEND=%j', async (value) => {
    vi.stubEnv('CONCORD_BACKEND', value);
    expectValid('devices', (await run(['devices', '--json'], all)).stdout);
  });

  test('with variants that do not build', async () => {
    const { stdout } = await run(['devices', '--json', '--verbose'], [working('some', {}, ExcludingBackend)]);
    expectValid('devices', stdout);
  });

  test('without any', async () => {
    expectValid('devices', (await run(['devices', '--json'], [missing('webgpu')])).stdout);
  });
});

describe('conformance', () => {
  const outputOf = async (...args: readonly string[]): Promise<string> =>
    (await run(['conformance', '--json', '-', ...args], all)).stdout;

  test('of one backend', async () => {
    expectValid('conformance', await outputOf('--backend', 'cpu', '--sample', '0.02'));
  });

  test('with failures, also where NaN is the answer', async () => {
    const text = await outputOf('--backend', 'idle', '--filter', 'reduce');
    expect(text).toContain('"got": "NaN"');
    expectValid('conformance', text);
  });

  test('of a backend that is not there', async () => {
    expectValid('conformance', await outputOf('--backend', 'level-zero'));
  });

  test('of several', async () => {
    const text = await outputOf('--backend', 'level-zero,idle,cpu', '--filter', 'reduce', '--sample', '0.1');
    expect(expectValid('conformance', text)).toHaveLength(3);
  });
});

test.each([
  ['as it is', []],
  ['that fails, with a roofline', ['--export', 'failing', '--roofline']],
])('a profile of a program %s', async (_, options) => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const program = join(import.meta.dirname, 'fixtures/program.fixture.ts');
  expectValid('profile', (await run(['profile', program, '--backend', 'cpu', '--json', '-', ...options], all)).stdout);
});

test.each([
  ['cpu', '3'],
  ['idle', '30'],
])('fuzz on %s', async (backend, count) => {
  const args = ['fuzz', '--backend', backend, '--count', count, '--seed', '1', '--op', 'reduce', '--json', '-'];
  expectValid('fuzz', (await run(args, all)).stdout);
});

describe('kernel', () => {
  const file = join(import.meta.dirname, 'fixtures/kernels.fixture.ts');
  test.each([
    ['softmax', []],
    ['softmax', ['--shape', '8,16', '--folded', '1']],
    ['lookup', ['--shape', '8,16', '--gather', 'table=9,16', '--backend', 'cpu,level-zero']],
  ])('%s %j', async (name, args) => {
    expectValid('kernel', (await run(['kernel', file, '--export', name, '--json', ...args], all)).stdout);
  });

  test('with passes', () => {
    const passes = [{ variant: 'run/map', summary: 'all', language: 'wgsl', code: 'fn main() {}' }];
    const explanations = [{ backend: 'webgpu', device: 'Acme 9000', status: 'supported', passes }];
    const kernel = defineKernel('k', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.name('n', k.exp(x)) }));
    expectValid('kernel', JSON.stringify({ kernels: [{ export: null, kernel, folds: 0, stages: 0, explanations }] }));
  });
});

test.each([
  [['--size', 'small', '--backend', 'cpu']],
  [['--size', 'small', '--op', 'reduce,memory']],
  [['--size', 'real', '--op', 'reduce', '--seconds', '0.0001']],
])('bench %j', async (args) => {
  vi.stubEnv('CONCORD_BACKEND', '');
  const backends = [missing('level-zero'), idle, cpu];
  expectValid('bench', (await run(['bench', '--seconds', '0.001', '--json', '-', ...args], backends)).stdout);
});

test('tune', () => {
  const [failures, measured] = [{ 'gemm/b': 'entry 0 is NaN, want 1' }, { 'gemm/a': 0.5 }];
  const one = {
    case: 'gemm/square/8x8x8',
    shapeClass: 'gemm 3',
    preferred: 'gemm/a',
    chosen: 'gemm/a',
    measured,
    failures,
  };
  const device = { vendor: 'Acme', name: 'Acme 9000', type: 'discrete', driver: 'Acme 1.2' };
  const all: TuneJson = { backend: 'webgpu', device: device as TuneJson['device'], profile: null, classes: [one] };
  expectValid('tune', JSON.stringify(all));
});

test('refuse what is wrong', () => {
  const errorsOf = (name: string, value: unknown): number => {
    const validate = validatorOf(name);
    validate(value);
    return validate.errors?.length ?? 0;
  };
  expect(errorsOf('fuzz', { backend: 'cpu', seed: 1, tried: 1, failures: [], stopped: 'time' })).toBe(0);
  expect(errorsOf('fuzz', { backend: 'cpu', seed: 1, tried: 1, failures: [], stopped: 'crashed' })).toBe(1);
  expect(errorsOf('fuzz', { backend: 'cpu', seed: 1, tried: 1, failures: [], stopped: 'time', more: 1 })).toBe(1);
  for (const name of ['devices', 'conformance', 'fuzz', 'bench']) expect(errorsOf(name, {}), name).toBeGreaterThan(0);
});

test('the example of docs/json.md is one', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/json.md'), 'utf8');
  const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => text);
  expect(examples).toHaveLength(1);
  for (const text of examples) expectValid('conformance', text);
});
