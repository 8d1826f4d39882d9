// @ts-check
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OpenCl } from '../../packages/spirv-builder/src/generated/open-cl.ts';
import * as tables from '../../packages/spirv-builder/src/generated/spirv.ts';

const { Op, ...enums } = tables;

const headers = '/usr/include/spirv/unified1';

/** @param {string} name */
const grammar = (name) => JSON.parse(readFileSync(join(headers, name), 'utf8'));

/** Numbers by name. @param {{ opname?: string, opcode?: number, enumerant?: string, value?: number | string }[]} entries */
const numbersOf = (entries) =>
  Object.fromEntries(
    entries.map(({ opname, opcode, enumerant = opname ?? '', value = opcode }) => [enumerant, Number(value)]),
  );

test('every number of the tables of SPIR-V is that of the Khronos grammar', (context) => {
  if (!existsSync(headers)) context.skip(`${headers} is missing (Debian: spirv-headers)`);
  const { instructions, operand_kinds: kinds } = grammar('spirv.core.grammar.json');
  expect(numbersOf(instructions)).toMatchObject(
    Object.fromEntries(Object.entries(Op).map(([name, opcode]) => [`Op${name}`, opcode])),
  );
  expect(numbersOf(grammar('extinst.opencl.std.100.grammar.json').instructions)).toMatchObject(OpenCl);
  for (const [name, table] of Object.entries(enums)) {
    const { enumerants } = kinds.find((/** @type {{ kind: string }} */ { kind }) => kind === name);
    expect(numbersOf(enumerants), name).toMatchObject(table);
  }
  for (const table of [Op, OpenCl]) expect(new Set(Object.values(table)).size).toBe(Object.keys(table).length);
});
