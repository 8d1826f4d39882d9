import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import { expect, test, vi } from 'vitest';
import { IdleBackend, missing, run, working } from './fakes.ts';

const text = readFileSync(join(import.meta.dirname, '../schema/bench.json'), 'utf8');

/** The file is open, so that a later version may add a field. Here a field that it does not name is a mistake. */
const closed = JSON.parse(text, (_, part: unknown) =>
  typeof part === 'object' && part !== null && 'properties' in part && 'type' in part
    ? { ...part, additionalProperties: false }
    : part,
) as AnySchemaObject;
const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(closed);

const all = [
  missing('level-zero'),
  working('idle', { memoryBytes: 2 ** 34, computeUnits: 8, subDevices: 0 }, IdleBackend),
  working('cpu'),
];

test.each([
  [['--size', 'small', '--backend', 'cpu']],
  [['--size', 'small', '--op', 'reduce,memory']],
  [['--size', 'real', '--op', 'reduce', '--seconds', '0.0001']],
])('%j', async (args) => {
  vi.stubEnv('CONCORD_BACKEND', '');
  const { stdout } = await run(['bench', '--seconds', '0.001', '--json', '-', ...args], all);
  vi.unstubAllEnvs();
  void validate(JSON.parse(stdout));
  expect(validate.errors ?? []).toEqual([]);
});

test('refuses what is wrong', () => {
  expect(validate({})).toBe(false);
  expect(validate.errors?.length).toBeGreaterThan(5);
});
