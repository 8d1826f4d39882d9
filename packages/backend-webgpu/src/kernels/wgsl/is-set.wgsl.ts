/**
 * WGSL: `is_set(flag, at)`, whether a uniform flag is not 0, for branches in long kernels. `at` is a number of the
 * invocation's own, such as an index, and not 2^32 - 1.
 *
 * Lavapipe (Mesa 22.3) compiles a kernel anew, at every dispatch, for the values of the uniforms that alone decide an
 * `if` or the end of a loop, and never frees what it compiled. With something in the condition that is no uniform it does
 * not; other drivers do not mind.
 */
export const isSet: string = /* wgsl */ `
fn is_set(flag: u32, at: u32) -> bool { return flag > select(0u, 1u, at == 0xffffffffu); }
`;
