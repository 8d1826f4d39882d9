// @ts-check
import { expect, test } from 'vitest';
import { withoutDriverNoise } from '../lib/driver-noise.mjs';
import { run } from '../lib/run.mjs';

/** @param {readonly string[]} chunks */
function passed(...chunks) {
  let text = '';
  const filter = withoutDriverNoise((more) => (text += more));
  for (const chunk of chunks) filter.add(chunk);
  filter.end();
  return text;
}

test("Dawn's, Mesa's and Wayland's lines are left out, however they arrive", () => {
  const noise = [
    'Warning: vkCreateInstance: Found no drivers!',
    'Warning: vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER',
    '    at CheckVkSuccessImpl (/home/x/dawn/native/vulkan/VulkanError.cpp:106)',
    '',
    'error: XDG_RUNTIME_DIR is invalid or not set in the environment.',
    'MESA: warning: cannot find a session',
  ].join('\n');
  expect(passed(`${noise}\n`)).toBe('');
  expect(passed(noise.slice(0, 30), `${noise.slice(30)}\n`)).toBe('');
});

test('what a program says itself is passed on', () => {
  const own =
    'error: no text below /x (NO_TEXT)\nhint: give another\n\nWarning: a warning of its own\n    at f (x.ts:3)\nend';
  expect(passed(own)).toBe(own);
});

test("a program's stderr goes through where that is asked for", async () => {
  let text = '';
  const program = "console.error('Warning: vkCreateInstance: Found no drivers!\\nhello')";
  const code = await run(process.execPath, ['-e', program], { onStderr: (more) => (text += more) });
  expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining('Found no drivers!\nhello\n') });
});
