// @ts-check
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { driverNoise } from '../lib/driver-noise.mjs';

/** @param {string} text */
const shown = (text) => text.split('\n').filter(driverNoise()).join('\n');

test("Dawn's, Mesa's and Wayland's lines are left out", () => {
  const noise = [
    'Warning: vkCreateInstance: Found no drivers!',
    'Warning: vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER',
    '    at CheckVkSuccessImpl (/home/x/dawn/native/vulkan/VulkanError.cpp:106)',
    '',
    'error: XDG_RUNTIME_DIR is invalid or not set in the environment.',
    'MESA: warning: cannot find a session',
  ].join('\n');
  expect(shown(noise)).toBe('');
});

test('what a program says itself is passed on', () => {
  const own =
    'error: no text below /x (NO_TEXT)\nhint: give another\n\nWarning: a warning of its own\n    at f (x.ts:3)\nend';
  expect(shown(own)).toBe(own);
});

test("of a program's stderr the lines are shown that are wanted", () => {
  const program = `import { run } from ${JSON.stringify(new URL('../lib/run.mjs', import.meta.url).href)};
    const args = ['-e', "console.error('noise\\\\nhello')"];
    process.exitCode = await run(process.execPath, args, { isShown: (line) => line !== 'noise' });`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'hello\n' });
});
