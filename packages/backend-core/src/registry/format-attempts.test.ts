import { expect, it } from 'vitest';
import { formatAttempts } from './format-attempts.ts';

it('formatAttempts prints one line for each attempt and each hint', () => {
  const device = (name: string, type: 'cpu' | 'software') => ({ vendor: 'v', name, type, driver: '1' });
  const table = formatAttempts([
    { provider: 'webgpu', outcome: 'unavailable', reason: 'no-device', message: 'no GPU', hint: 'plug one in' },
    { provider: 'odd', outcome: 'unavailable', message: 'boom' },
    { provider: 'cpu', outcome: 'selected', device: device('x64', 'cpu'), message: 'works' },
    { provider: 'lavapipe', outcome: 'not-tried', device: device('llvm', 'software'), message: 'ranks after cpu' },
  ]);
  expect(table).toMatchInlineSnapshot(`
    "   webgpu    unavailable (no-device)  -                no GPU
         hint: plug one in
       odd       unavailable (failed)     -                boom
    *  cpu       selected                 x64 [cpu]        works
       lavapipe  not-tried                llvm [software]  ranks after cpu"
  `);
  expect(formatAttempts([])).toBe('');
});
