import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { run, working } from '../../test/fakes.ts';

const providers = [working('webgpu'), working('cpu')];
const scriptFor = async (shell: string): Promise<string> => (await run(['completion', shell], providers)).stdout;

const folder = mkdtempSync(join(tmpdir(), 'concord-completion-'));
writeFileSync(join(folder, 'report one.json'), '');
afterAll(() => rmSync(folder, { recursive: true }));

const hasShell = (name: string): boolean => spawnSync(name, ['-c', 'exit 0']).status === 0;

/** The words that bash offers for the last word, as it takes them apart itself. */
async function completeInBash(...words: readonly string[]): Promise<string[]> {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const script = `${await scriptFor('bash')}
COMP_WORDS=(concord ${quoted})
COMP_CWORD=${words.length}
_concord
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['--norc', '-eu', '-c', script], { cwd: folder, encoding: 'utf8' });
  return output.split('\n').filter((line) => line !== '');
}

describe('bash', () => {
  test.each([[['']], [['--verbose', '']]])('%j offers the commands and the global options', async (words) => {
    const offered = await completeInBash(...words);
    expect(offered).toEqual(expect.arrayContaining(['devices', 'conformance', 'fuzz', 'info', 'completion', '--help']));
    expect(offered).not.toContain('--backend');
  });

  test.each([
    [['con'], ['conformance']],
    [['conformance', '--f'], ['--filter']],
    [['conformance', '--html', 'rep'], ['report one.json']],
    [
      ['conformance', '--backend', ''],
      ['webgpu', 'cpu'],
    ],
    [['conformance', '--backend', 'webgpu,c'], ['webgpu,cpu']],
    [['conformance', '--backend', '=', 'c'], ['cpu']],
    [
      ['conformance', '--backend', '='],
      ['webgpu', 'cpu'],
    ],
    [['fuzz', '--op', 'gemm,un'], ['gemm,unary']],
    [['fuzz', '--seconds', ''], []],
    [
      ['fuzz', '--seconds', '5', '--se'],
      ['--seconds', '--seed'],
    ],
    [['completion', 'z'], ['zsh']],
    [['devices', '--j'], ['--json']],
    [['kernel', 'rep'], ['report one.json']],
    [['kernel', '--sh'], ['--shape']],
    [['nonsense', '--'], []],
  ])('%j offers %j', async (words, want) => expect(await completeInBash(...words)).toEqual(want));

  test('knows every option of every command', async () => {
    const help = (await run(['--help'], providers)).stdout;
    const commands = [...help.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, name = '']) => name);
    const known = ['devices', 'conformance', 'fuzz', 'info', 'kernel', 'bench', 'tune', 'completion'];
    for (const command of known) {
      expect(commands).toContain(command);
      const options = (await run([command, '--help'], providers)).stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm);
      const wanted = [...options].map(([, option = '']) => option);
      expect(wanted.length).toBeGreaterThan(1);
      expect(await completeInBash(command, '--')).toEqual(expect.arrayContaining(wanted));
    }
  });
});

describe('zsh and fish', () => {
  test('have the same commands, options and backends', async () => {
    for (const shell of ['zsh', 'fish']) {
      const script = await scriptFor(shell);
      for (const word of ['conformance', 'fuzz', 'info', 'seconds', 'sample', 'webgpu cpu', 'bash zsh fish']) {
        expect(script, shell).toContain(word);
      }
    }
  });

  test.skipIf(!hasShell('zsh'))('zsh reads its script', async () => {
    const ended = spawnSync('zsh', ['-f', '-n'], { input: await scriptFor('zsh'), encoding: 'utf8' });
    expect(ended).toMatchObject({ status: 0, stderr: '' });
  });

  test.skipIf(!hasShell('fish'))('fish completes with its script', async () => {
    const complete = async (line: string): Promise<string[]> => {
      const input = `${await scriptFor('fish')}\ncomplete -C '${line}'`;
      const output = execFileSync('fish', ['--no-config', '-c', input], { cwd: folder, encoding: 'utf8' });
      return output.split('\n').map((each) => each.split('\t')[0] ?? '');
    };
    expect(await complete('concord conf')).toContain('conformance');
    expect(await complete('concord conformance --sam')).toContain('--sample');
    expect(await complete('concord conformance --filter gemmF')).toContain('gemmF16');
    expect(await complete('concord fuzz --backend w')).toContain('webgpu');
    expect(await complete('concord completion z')).toContain('zsh');
  });
});

test.each([[['powershell']], [[]]])('%j is a wrong argument', async (args) => {
  const { code, stdout, stderr } = await run(['completion', ...args], providers);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/\(USAGE\)\n/);
});
