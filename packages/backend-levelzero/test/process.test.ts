import { expect, it } from 'vitest';
import { describeProcesses } from '../../backend-core/test/built-package.ts';
import { runProgram } from './support/in-process.ts';

describeProcesses(runProgram, 'new LevelZeroBackend()');

it('importing the package loads nothing native', async () => {
  const ended = await runProgram(`
    levelZero();
    const { readFileSync } = await import('node:fs');
    const maps = readFileSync('/proc/self/maps', 'utf8');
    console.log(/koffi|ze_loader/.test(maps));
    await levelZero().probe();
    console.log(/koffi/.test(readFileSync('/proc/self/maps', 'utf8')));
  `);
  expect(ended).toMatchObject({ code: 0, stdout: 'false\ntrue\n' });
});
