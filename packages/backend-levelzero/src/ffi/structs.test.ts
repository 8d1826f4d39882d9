import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESULTS } from './result.ts';
import { ENUMS, type FieldType, Struct, type StructLayout, STRUCTS } from './structs.ts';

// The header of the distribution says what is right: a C program prints every size, offset and value that is written
// down here, and the two are compared.

const folder = mkdtempSync(join(tmpdir(), 'concord-structs-'));
const printed = new Map<string, string>();

/** C expressions by name. */
function expressions(): [string, string][] {
  const structs = Object.entries(STRUCTS as Readonly<Record<string, StructLayout>>);
  const stype = (name: string): string => `ZE_STRUCTURE_TYPE_${name.slice('ze_'.length, -'_t'.length).toUpperCase()}`;
  return [
    ...structs.map(([name]): [string, string] => [`sizeof ${name}`, `sizeof(${name})`]),
    ...structs.flatMap(([name, layout]): [string, string][] =>
      layout.stype === undefined ? [] : [[`stype ${name}`, stype(name)]],
    ),
    ...structs.flatMap(([name, { fields }]) =>
      Object.keys(fields).flatMap((field): [string, string][] => [
        [`offset ${name}.${field}`, `offsetof(${name}, ${field})`],
        [`bytes ${name}.${field}`, `sizeof(((${name} *)0)->${field})`],
      ]),
    ),
    ...Object.keys(RESULTS).map((name): [string, string] => [`result ${name}`, `ZE_RESULT_${name}`]),
    ...Object.keys(ENUMS).map((name): [string, string] => [`enum ${name}`, name]),
  ];
}

beforeAll(() => {
  const lines = expressions().map(
    ([name, code]) => `  printf("%s=%llu\\n", "${name}", (unsigned long long)(${code}));`,
  );
  const source = `#include <level_zero/ze_api.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n${lines.join('\n')}\n}\n`;
  const file = join(folder, 'layout.c');
  writeFileSync(file, source);
  execFileSync('gcc', ['-std=c11', '-Wall', '-Werror', '-o', join(folder, 'layout'), file], { stdio: 'pipe' });
  for (const line of execFileSync(join(folder, 'layout'), { encoding: 'utf8' }).trim().split('\n')) {
    const [name = '', value = ''] = line.split('=');
    printed.set(name, value);
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('what is written down is what the header says:', () => {
  it.each(Object.entries(STRUCTS as Readonly<Record<string, StructLayout>>))('%s', (name, { size, stype, fields }) => {
    expect(printed.get(`sizeof ${name}`)).toBe(String(size));
    if (stype !== undefined) expect(printed.get(`stype ${name}`)).toBe(String(stype));
    for (const [field, [offset, type]] of Object.entries(fields)) {
      expect([field, printed.get(`offset ${name}.${field}`)]).toEqual([field, String(offset)]);
      expect([field, isSize(type, Number(printed.get(`bytes ${name}.${field}`)))]).toEqual([field, true]);
    }
  });

  it('results', () => {
    for (const [name, value] of Object.entries(RESULTS)) {
      expect([name, printed.get(`result ${name}`)]).toEqual([name, String(value)]);
    }
  });

  it('enumerations and flags', () => {
    for (const [name, value] of Object.entries(ENUMS)) {
      expect([name, printed.get(`enum ${name}`)]).toEqual([name, String(value)]);
    }
  });
});

/** Returns whether a field of that many bytes is of a type; one of 32 bits may be the first element of an array. */
function isSize(type: FieldType, bytes: number): boolean {
  if (type === 'u32') return bytes === 4 || bytes === 4 * ENUMS.ZE_SUBGROUPSIZE_COUNT;
  return bytes === (type === 'u64' || type === 'pointer' ? 8 : Number(type.slice('text '.length)));
}

it('a struct reads back what was set, and has its type', () => {
  const description = new Struct('ze_module_desc_t')
    .set('inputSize', 2 ** 40 + 4)
    .set('pInputModule', 0xffff8000_00001234n);
  expect(new DataView(description.bytes.buffer).getUint32(0, true)).toBe(0x1b);
  expect(description.get('inputSize')).toBe(2 ** 40 + 4);
  expect(new DataView(description.bytes.buffer).getBigUint64(32, true)).toBe(0xffff8000_00001234n);
});

it('text ends at its zero', () => {
  const properties = new Struct('ze_device_properties_t');
  properties.bytes.set(new TextEncoder().encode('Intel(R) Arc(TM) \0rest'), 112);
  expect(properties.text('name')).toBe('Intel(R) Arc(TM)');
});
