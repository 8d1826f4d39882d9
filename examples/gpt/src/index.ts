/** The model, for the benchmark. */
export { type Cache, type Config, Gpt2, parseConfig } from '@concord/example-gpt-model';
