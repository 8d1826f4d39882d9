/** The model, for the benchmark. */
export { type Config, parseConfig } from './config.ts';
export { type Cache, Decoder } from './decoder.ts';
export { type NamedWeights, type Weights, weightsOf } from './weights.ts';
