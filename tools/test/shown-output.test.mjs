// @ts-check
import { expect, test } from 'vitest';
import { blocksOf, unitsOf } from '../lib/docs-code.mjs';
import { firstDifference, shownOutputs } from '../lib/shown-output.mjs';

const PAGE = `
\`\`\`console
$ one --check
width  8
Time   22.1 ms, 45.3 images a second

$ two
\`\`\`

<!-- check-docs: numbers vary -->

\`\`\`console
$ three
12 files of
many
...
\`\`\`
`;
/** @typedef {import('../lib/shown-output.mjs').Shown} Shown */
const [one, two, three] = /** @type {[Shown, Shown, Shown]} */ (shownOutputs(blocksOf(PAGE)));

test('finds the commands and their outputs', () => {
  expect(one).toMatchObject({ command: 'one --check', line: 3, numbersVary: false });
  expect(two).toMatchObject({ command: 'two', output: '', line: 7 });
  expect(three).toMatchObject({ command: 'three', numbersVary: true });
  expect(unitsOf(PAGE)).toEqual({ units: [], skipped: [] });
  expect(() => shownOutputs(blocksOf('```console\nno command\n```'))).toThrow('line 2: a block of console begins with');
});

test('times may differ, other numbers and texts may not', () => {
  expect(firstDifference(one, 'width  8\nTime   1,007 ms, 3 images a second\n')).toBeUndefined();
  expect(firstDifference(one, 'width  9\nTime   1 ms, 3 images a second\n')).toEqual({
    shown: 'width  8',
    real: 'width  9',
  });
  expect(firstDifference(one, 'width  8\n')).toMatchObject({ real: 'the end' });
  expect(firstDifference(two, 'something\n')).toEqual({ shown: 'the end', real: 'something' });
});

test('so may devices', () => {
  const shown = { ...two, output: 'Backend  wasm: CPU, 2 threads [cpu]\non llvmpipe: Mesa (LLVM 15)\n' };
  expect(firstDifference(shown, 'Backend  wasm: CPU, 64 threads, SIMD [cpu]\non llvmpipe: Mesa (LLVM 19)\n')).toBe(
    undefined,
  );
  expect(firstDifference(two, 'level-zero-cpu: building the driver\n')).toBeUndefined();
  expect(firstDifference(shown, 'Backend  cpu: CPU, one thread [cpu]\non llvmpipe\n')).toBeDefined();
});

test('where numbers vary, so may the ends of lines; "..." is any lines', () => {
  expect(firstDifference(three, '1,200\nfiles of many')).toBeUndefined();
  expect(firstDifference(three, '12 files of many and\nmore')).toBeUndefined();
  expect(firstDifference(three, '12 folders of many')).toEqual({ shown: 'files', real: 'folders' });
});
