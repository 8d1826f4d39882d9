/** ResNet-18 on tensors, for the benchmark. */
export { blocksOf, RESNET_18 } from './architecture.ts';
export { checkScores } from './check.ts';
export { classify, noiseImages, seededNumbers, untrainedWeights } from './resnet.ts';
