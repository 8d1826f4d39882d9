// @ts-check
import { expect, test } from 'vitest';
import { stripTemplates } from '../lib/strip-templates.mjs';

test('takes indentation and comments out of templates, keeps every line, and leaves all else alone', () => {
  const source = [
    '// a `comment',
    "const quote = '`  x';",
    'const code = `',
    '  // what it does',
    '  fn main() {',
    '    x = ${f({ a: 1 })} + ${list.map((i) => `',
    '      y[${i}]; // tail`)};',
    '    \\`\\${no}',
    '  }`;',
    '  const after = 1;',
  ].join('\n');
  const expected = [
    '// a `comment',
    "const quote = '`  x';",
    'const code = `',
    '',
    'fn main() {',
    'x = ${f({ a: 1 })} + ${list.map((i) => `',
    'y[${i}]; // tail`)};',
    '\\`\\${no}',
    '}`;',
    '  const after = 1;',
  ].join('\n');
  expect(stripTemplates(source)).toBe(expected);
});
