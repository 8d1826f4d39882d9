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

/** Makes a function that says of each line of a program's stderr whether it is the program's own, not of a driver. */
export function driverNoise() {
  let afterNoise = false;
  return (/** @type {string} */ line) => {
    afterNoise = NOISE.some((pattern) => pattern.test(line)) || (afterNoise && line === '');
    return !afterNoise;
  };
}
