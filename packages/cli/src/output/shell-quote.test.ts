import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { replayCommand, shellQuote, shellWord } from './shell-quote.ts';
import { moduleArguments } from '../load-module.ts';

const HOSTILE = [
  'plain',
  "it's; rm -rf ~",
  '$(touch /tmp/x) `id`',
  'a b\tc',
  '\\',
  '!!',
  '*',
  "'",
  '',
  '-n',
  'line\nline',
];

/** The words that a shell makes of a line. */
const words = (line: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

describe.skipIf(process.platform === 'win32')('lines to paste', () => {
  it.each(HOSTILE)('%j is one word, as it is', (text) => {
    expect(words(shellQuote(text))).toEqual([text]);
    expect(words(shellWord(text))).toEqual([text]);
  });

  it('words that need no quotes have none', () => {
    expect(shellWord('./dist/index.js')).toBe('./dist/index.js');
    expect(shellWord('webgpu')).toBe('webgpu');
  });

  it('the command that runs a case again', () => {
    for (const text of HOSTILE) {
      const line = replayCommand(
        `gemm/${text}`,
        `${shellWord(text)}${moduleArguments({ module: text, export: text })}`,
        [text],
      );
      const variable = line.slice(0, line.indexOf('npx concord conformance'));
      expect(words(line.slice(variable.length))).toEqual([
        ...['npx', 'concord', 'conformance', '--backend', text, '--module', text, '--export', text],
        ...['--filter', `gemm/${text}`],
      ]);
      expect(execFileSync('sh', ['-c', `${variable}printenv CONCORD_VARIANT`], { encoding: 'utf8' })).toBe(`${text}\n`);
    }
    expect(moduleArguments({})).toBe('');
  });
});
