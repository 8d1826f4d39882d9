// What cannot be built is an error with words, never the end of the process.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { importOf } from './spirv/cases-intel.mjs';
import { setUp } from '../setup.mjs';
import { buildProgram, makeFolder } from './programs.mjs';
import { answersIn, assemble, assembleAll, runScript } from './spirv/harness.mjs';
import { moduleText } from './spirv/module.mjs';

const INVALID = '0x7800000f';
const FAILED = '0x70000004';

const folder = makeFolder();
let program = '';
let goodFile = '';
beforeAll(() => {
  expect(setUp()).toBe(true);
  program = buildProgram(folder, 'run-modules');
  goodFile = assemble(folder, 'good', good);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const store = 'OpStore %p0 #i32:1 Aligned 4';
const good = moduleText({ parameters: ['pg_i32'], body: store });
const ofGroups = (/** @type {string} */ body) => moduleText({ parameters: ['pg_i32'], capabilities: ['Groups'], body });

const inFunction = (/** @type {string} */ body) =>
  moduleText({
    parameters: ['pg_i32'],
    capabilities: ['Groups'],
    declare: '%local = OpVariable %pw_i32 Workgroup\n%apart_type = OpTypeFunction %void',
    functions: `%apart = OpFunction %void None %apart_type\n%apart_start = OpLabel\n${body}\nOpReturn\nOpFunctionEnd`,
    body: `${store}\n%called = OpFunctionCall %void %apart`,
  });

const blockRead = (/** @type {string} */ pointer, /** @type {string} */ body) =>
  moduleText({
    parameters: [pointer],
    capabilities: ['SubgroupBufferBlockIOINTEL'],
    extensions: ['SPV_INTEL_subgroups'],
    body,
  });
const matrices = importOf(16);
const imported = (/** @type {Partial<typeof matrices>} */ changes) =>
  moduleText({ ...matrices, capabilities: ['SubgroupDispatch'], ...changes, parameters: ['pg_i32'], body: store });

/** Bytes of a module, changed. @param {string} name @param {(bytes: Buffer) => Buffer} change */
const changed = (name, change) => {
  const file = join(folder, `${name}.spv`);
  writeFileSync(file, change(readFileSync(goodFile)));
  return file;
};
const withWord = (/** @type {number} */ at, /** @type {number} */ value) => (/** @type {Buffer} */ bytes) => {
  bytes.writeUInt32LE(value, at * 4);
  return bytes;
};

/** @type {[string, () => string, string | RegExp][]} */
const notSpirv = [
  ['a few bytes', () => changed('few', (bytes) => bytes.subarray(0, 16)), 'not SPIR-V: 16 bytes'],
  ['half a word too much', () => changed('half', (bytes) => bytes.subarray(0, -2)), 'multiple of 4'],
  [
    'text',
    () => changed('text', () => Buffer.from('OpCapability Kernel OpCapability Addresses ...  '.slice(0, 48))),
    'the first word is',
  ],
  ['a header alone', () => changed('header', (bytes) => bytes.subarray(0, 20)), 'not valid SPIR-V'],
  ['cut off in an instruction', () => changed('cut', (bytes) => bytes.subarray(0, -4 * 6)), /cut off|not valid/],
  ['an instruction of no words', () => changed('zero', withWord(5, 17)), 'has 0 words'],
  ['an instruction longer than the module', () => changed('long', withWord(5, 0xffff0011)), 'cut off or damaged'],
  ['version 1.6', () => changed('version', withWord(1, 0x10600)), 'version 1.6 is not supported: 1.0 to 1.4'],
  ['version 0', () => changed('version0', withWord(1, 0)), 'version 0.0 is not supported'],
  ['a huge bound', () => changed('bound', withWord(3, 0xffffffff)), 'bound of ids'],
  ['a bound of nothing', () => changed('bound0', withWord(3, 0)), 'bound of ids'],
  ['an unknown opcode', () => changed('opcode', withWord(5, 0x20fff)), 'not valid SPIR-V'],
];

/** @typedef {[string, string, string | RegExp]} Refusal name, text, words of the log */

/** @type {Refusal[]} */
const invalid = [
  [
    'a missing capability',
    moduleText({ parameters: ['pg_f64'], body: 'OpStore %p0 #f64:1' }).replace('OpCapability Float64\n', ''),
    'Float64',
  ],
  [
    'operands of two types',
    moduleText({ parameters: ['pg_i32'], body: '%a = OpIAdd %i32 #i32:1 #i64:1' }),
    'not valid SPIR-V',
  ],
  ['a store of another type', moduleText({ parameters: ['pg_i32'], body: 'OpStore %p0 #f32:1' }), 'OpStore'],
  ['a block without an end', good.replace('OpReturn\n', ''), 'not valid SPIR-V'],
  ['an interface without its variable', good.replace('"main" ', '"main" %i32'), 'not valid SPIR-V'],
];

/** @type {Refusal[]} */
const refused = [
  [
    'an unknown capability',
    moduleText({
      parameters: ['pg_i32'],
      capabilities: ['VectorComputeINTEL'],
      extensions: ['SPV_INTEL_vector_compute'],
      body: store,
    }),
    'capability number 5617',
  ],
  [
    'built-in variables of 32 bits',
    good
      .replace('OpStore', '%id = OpLoad %v3i32 %bad\nOpStore')
      .replace(
        '%main_type =',
        '%v3i32 = OpTypeVector %i32 3\n%pi_v3i32 = OpTypePointer Input %v3i32\n%bad = OpVariable %pi_v3i32 Input\n%main_type =',
      )
      .replace(
        'OpEntryPoint Kernel %main "main" ',
        'OpEntryPoint Kernel %main "main" %bad\nOpDecorate %bad BuiltIn GlobalInvocationId\n',
      ),
    'GlobalInvocationId cannot be used on this device: it has to be an Input variable of three 64-bit integers',
  ],
  ['a kernel without a name', good.replace('"main"', '""'), 'it has no name'],
  ['32-bit addresses', good.replace('Physical64', 'Physical32'), 'Physical64 OpenCL'],
  [
    'an imported function',
    moduleText({
      parameters: ['pg_i32'],
      body: `${store}\n%r = OpFunctionCall %void %elsewhere`,
      declare: '%elsewhere_type = OpTypeFunction %void',
      decorate: 'OpDecorate %elsewhere LinkageAttributes "elsewhere" Import',
      functions: '%elsewhere = OpFunction %void None %elsewhere_type\nOpFunctionEnd',
    }),
    'the import elsewhere cannot be used on this device: the driver has no such function',
  ],
  [
    'a bool as an argument',
    moduleText({ parameters: ['pg_i32', 'bool'], body: store }),
    'argument 1 of kernel main is of a type that no value can be given for',
  ],
  [
    'block reads of 64-bit numbers',
    blockRead('pg_i64', '%v = OpSubgroupBlockReadINTEL %i64 %p0'),
    'OpSubgroupBlockReadINTEL is not emulated',
  ],
  [
    'block reads of three',
    blockRead('pg_i32', '%v = OpSubgroupBlockReadINTEL %v3i32 %p0'),
    'OpSubgroupBlockReadINTEL is not emulated',
  ],
  [
    'block reads of workgroup memory',
    blockRead('pw_i32', '%v = OpSubgroupBlockReadINTEL %i32 %p0'),
    'OpSubgroupBlockReadINTEL is not emulated',
  ],
  [
    'block writes of other numbers than memory has',
    blockRead('pg_i32', 'OpSubgroupBlockWriteINTEL %p0 #i16:1'),
    'OpSubgroupBlockWriteINTEL is not emulated',
  ],
  [
    'a matrix built-in in sub-groups of another size',
    imported({ modes: 'OpExecutionMode %main SubgroupSize 8' }),
    `the import ${matrices.name} is for sub-groups of 16, and these are of 8`,
  ],
  [
    'a matrix built-in of 16 without a size of sub-groups',
    imported({ modes: '' }),
    'is for sub-groups of 16, and these are of 8',
  ],
  [
    'a matrix built-in with types of another',
    imported({ decorate: matrices.decorate.replace('Dv8_sDv8_iDv8_f', 'Dv4_sDv8_iDv4_f') }),
    'Dv4_sDv8_iDv4_f is declared with other types than it has',
  ],
  [
    'a matrix built-in of other numbers',
    imported({ decorate: matrices.decorate.replace('f16_f16', 'bf16_bf16') }),
    'mad_k16Dv8_sDv8_iDv8_f cannot be used on this device: the driver has no such function',
  ],
  ['Workgroup memory in a function', inFunction('OpStore %local #i32:1 Aligned 4'), 'Workgroup memory in a function'],
  [
    'a sum of a sub-group in a function',
    inFunction('%v = OpGroupIAdd %i32 #i32:3 Reduce #i32:1'),
    'Workgroup memory in a function',
  ],
  ['a scan', ofGroups('%v = OpGroupIAdd %i32 #i32:3 InclusiveScan #i32:1'), 'OpGroupIAdd is not emulated'],
  ['a sum of the whole group', ofGroups('%v = OpGroupIAdd %i32 #i32:2 Reduce #i32:1'), 'OpGroupIAdd is not emulated'],
  [
    'a broadcast to the whole group',
    ofGroups('%v = OpGroupBroadcast %i32 #i32:2 #i32:1 #i64:1'),
    'OpGroupBroadcast is not emulated',
  ],
  ['a barrier of a sub-group', ofGroups('OpControlBarrier #i32:3 #i32:3 #i32:272'), 'OpControlBarrier is not emulated'],
  [
    'sub-groups of 7',
    moduleText({
      parameters: ['pg_i32'],
      capabilities: ['SubgroupDispatch'],
      modes: 'OpExecutionMode %main SubgroupSize 7',
      body: store,
    }),
    'sub-groups of 7',
  ],
  [
    'exp of half',
    moduleText({ parameters: ['pg_f16'], body: '%a = OpExtInst %f16 %opencl exp #f16:1\nOpStore %p0 %a Aligned 2' }),
    /exp/,
  ],
];

/** @param {string[]} files @param {Record<string, string>} [env] */
const told = (files, env) => {
  const ran = runScript(program, [...files.flatMap((file) => [`module ${file}`, 'kernel main'])], env);
  return { ...ran, answers: answersIn(ran.stdout) };
};

/** @param {string | undefined} log @param {string | RegExp} words */
const expectWords = (log, words) =>
  words instanceof RegExp ? expect(log).toMatch(words) : expect(log).toContain(words);

describe('what is no SPIR-V', () => {
  /** @type {ReturnType<typeof told>} */
  let all;
  beforeAll(() => {
    all = told(notSpirv.flatMap(([, file]) => [file(), goodFile]));
  });
  test('does not end the process', () => {
    expect({ status: all.status, stderr: all.stderr }).toEqual({ status: 0, stderr: '' });
  });
  test.each(notSpirv.map(([name, , words], at) => /** @type {const} */ ([name, words, at])))('%s', (_, words, at) => {
    const [answer, next] = all.answers.slice(at * 2);
    expect(answer?.result).toBe(INVALID);
    expectWords(answer?.log, words);
    expect(next?.result).toBe('0x0');
  });
});

describe('what is not valid, and what cannot run here', () => {
  const files = (/** @type {Refusal[]} */ some) =>
    assembleAll(
      folder,
      some.map(([name, text]) => ({ name, text, version: '1.3' })),
    );
  /** @type {[string, Refusal[]][]} */
  const all = [
    [INVALID, invalid],
    [FAILED, refused],
  ];
  test.each(all)('%s', (code, some) => {
    const { answers, status, stderr } = told([...files(some), goodFile]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(some.map(([name], at) => [name, answers[at]?.result])).toEqual(some.map(([name]) => [name, code]));
    for (const [at, [, , words]] of some.entries()) expectWords(answers[at]?.log, words);
    expect(answers.at(-1)?.result).toBe('0x0');
  });
});

test('the byte order of another machine is understood', () => {
  const { answers } = told([changed('swapped', (bytes) => bytes.swap32())]);
  expect(answers[0]?.result).toBe('0x0');
});

test('a kernel that the module does not have', () => {
  const { stdout } = runScript(program, [`module ${goodFile}`, 'kernel other', 'kernel mai', 'kernel main']);
  expect(stdout.match(/^kernel .*/gm)).toEqual(['kernel 0x78000011', 'kernel 0x78000011', 'kernel 0x0']);
});

test('a return before a barrier builds with a warning', () => {
  const text = moduleText({
    parameters: ['pg_i32'],
    body: `
      %id = OpLoad %v3i64 %builtin_GlobalInvocationId
      %x = OpCompositeExtract %i64 %id 0
      %out = OpUGreaterThan %bool %x #i64:5
      OpBranchConditional %out %leave %stay
      %leave = OpLabel
      OpReturn
      %stay = OpLabel
      OpControlBarrier #i32:2 #i32:2 #i32:272
      ${store}`,
  });
  const { answers } = told([assemble(folder, 'early', text), goodFile]);
  expect(answers.map(({ result, log }) => [result, log.trim()])).toEqual([
    ['0x0', expect.stringMatching(/^warning: function main returns before a barrier/)],
    ['0x0', ''],
  ]);
});

describe('the translator', () => {
  const withTranslator = (/** @type {string} */ path) =>
    told([goodFile], { LEVEL_ZERO_CPU_LLVM_SPIRV: path }).answers[0];
  const script = (/** @type {string} */ name, /** @type {string} */ lines) => {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
    return file;
  };
  test('that is missing', () => {
    expect(withTranslator(join(folder, 'missing'))).toMatchObject({
      result: FAILED,
      log: expect.stringContaining('cannot be started: No such file'),
    });
  });
  test('that fails: its words and its exit status', () => {
    const answer = withTranslator(script('fails', 'echo "no such luck" >&2; exit 3'));
    expect(answer).toMatchObject({ result: FAILED, log: expect.stringMatching(/no such luck\n.*exit status 3/) });
  });
  test('that crashes', () => {
    expect(withTranslator(script('crashes', 'kill -SEGV $$'))).toMatchObject({
      result: FAILED,
      log: expect.stringContaining('crashed (Segmentation fault)'),
    });
  });
  test('that writes nothing, or something else than bitcode', () => {
    expect(withTranslator(script('silent', 'exit 0'))).toMatchObject({
      result: FAILED,
      log: expect.stringContaining('wrote nothing'),
    });
    expect(withTranslator(script('liar', 'echo "this is not bitcode"'))).toMatchObject({ result: FAILED });
  });
});
