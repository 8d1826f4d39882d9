/** GPT-2 on tensors, for `examples/gpt` and the benchmark. */
export { type Config, parseConfig } from './config.ts';
export { type Cache, Gpt2 } from './gpt2.ts';
