import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runOnDevice, temporaryFolder, TESTED_BACKENDS } from '@concord/example-command/testing';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';

const PICTURES = join(import.meta.dirname, '../pictures');
const folder = temporaryFolder();

function pixelsOf(path: string): Buffer {
  return PNG.sync.read(readFileSync(path)).data;
}

test.each(TESTED_BACKENDS)('on %s: the pictures of the README, pixel by pixel', (backend) => {
  for (const [name, ...options] of [
    ['edges.png'],
    ['edges-blurred.png', '--blur', '2'],
    ['blurred.png', '--blur', '3', '--no-edges'],
  ] as const) {
    const [from, to] = [join(PICTURES, 'scene.png'), join(folder, `${backend}-${name}`)];
    const { code, stdout, stderr } = runOnDevice(backend, 'edges', [
      ...options,
      ...['--check', '--backend', backend, from, to],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Backend  ${backend}: `);
    expect(stdout).toMatch(/Check    passed: [\d,]+ values against the float64 oracle, bit for bit\n$/);
    expect(pixelsOf(to).equals(pixelsOf(join(PICTURES, name)))).toBe(true);
  }
});
