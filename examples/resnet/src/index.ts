/** ResNet-18 on tensors, for the benchmark. */
export { RESNET_18 } from './architecture.ts';
export { checkScores } from './check.ts';
export { classify, noiseImages, untrainedWeights } from './resnet.ts';
