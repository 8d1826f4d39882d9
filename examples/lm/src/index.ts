/** The model, for pages and the benchmark. */
export { Batch } from './batch.ts';
export { type Config, parseConfig } from './config.ts';
export { type Cache, Decoder } from './decoder.ts';
export { logitsOf } from './logits.ts';
export { chatText, type ModelFiles, openFile, openFolder, tokensOf } from './model.ts';
export { textOf } from './token-text.ts';
export { type Block, type NamedWeights, type Weights, weightsOf } from './weights.ts';
