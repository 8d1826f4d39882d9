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

it('fits 80 columns, and loses nothing', () => {
  const name = 'llvmpipe (LLVM 15.0.6, 256 bits), a device with a name that is longer than most';
  const message = `backend unavailable: ${'word '.repeat(30)}${'/a/path'.repeat(20)}`;
  const table = formatAttempts([
    { provider: 'webgpu', outcome: 'selected', device: { vendor: 'v', name, type: 'software', driver: '1' }, message },
    { provider: 'x'.repeat(100), outcome: 'unavailable', message: 'boom', hint: 'h'.repeat(200) },
  ]);
  for (const line of table.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  const words = table.replaceAll(/\s+/g, '');
  for (const text of [name, message, 'h'.repeat(200)]) expect(words).toContain(text.replaceAll(/\s+/g, ''));
  expect(table.split('\n').slice(0, 3)).toEqual([
    `*  webgpu${' '.repeat(34)}  selected`,
    '     llvmpipe (LLVM 15.0.6, 256 bits), a device with a name that is longer than',
    '     most [software]',
  ]);
});

it('never throws, and obeys no control characters', () => {
  const never = (): never => {
    throw new Error('trap');
  };
  const trap: object = new Proxy({}, { get: never, getPrototypeOf: never });
  const attempts = [null, 5, trap, {}, { provider: Symbol('s'), outcome: 5n, device: { name: {} }, message: trap }];
  const lines = formatAttempts(attempts as never).split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(5);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(formatAttempts(undefined as never)).toBe('');
  expect(formatAttempts(new Proxy([], { get: never }))).toBe('');
  const name = 'GPU\u001B[2J\r\nnext';
  const table = formatAttempts([{ provider: 'p', outcome: 'unavailable', message: `a\u0007${name}`, hint: name }]);
  expect(table).not.toMatch(/(?!\n)\p{Cc}/u);
  expect(table).toContain(String.raw`GPU\u001b[2J next`);
});
