// @ts-check
// Removes messages that drivers print on stderr by themselves and that do not concern users. `--verbose` keeps them.

/** Dawn's warnings with the place in its source, Mesa's, and what a Wayland client library says without a session. */
const NOISE = [
  /^Warning: (vk|Vulkan|maxDynamic|.*failed with VK_)/,
  /^ +at .*\(.*\.(cpp|h|cc):\d+\)$/,
  /XDG_RUNTIME_DIR/,
  /^MESA(-\w+)?: /,
  /^WARNING: .* is not a conformant [vV]ulkan implementation/,
];

/**
 * Passes a program's stderr on, line by line, without the messages of its drivers.
 *
 * @param {(text: string) => void} write
 */
export function withoutDriverNoise(write) {
  let rest = '';
  let afterNoise = false;
  const line = (/** @type {string} */ text, /** @type {string} */ end) => {
    const isNoise = NOISE.some((pattern) => pattern.test(text)) || (afterNoise && text === '');
    afterNoise = isNoise;
    if (!isNoise) write(text + end);
  };
  return {
    /** @param {string} text */
    add(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const each of lines) line(each, '\n');
    },
    end() {
      if (rest !== '') line(rest, '');
      rest = '';
    },
  };
}
