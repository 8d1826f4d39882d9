/** A residual network of blocks of two 3 x 3 convolutions, as ResNet-18 and ResNet-34. */
export interface Architecture {
  readonly name: string;
  /** Channels of each stage; each but the first halves the images. */
  readonly channels: readonly number[];
  /** Blocks of each stage. */
  readonly blocks: number;
  readonly classes: number;
}

/** He, Zhang, Ren, Sun, Deep residual learning for image recognition, 2015. */
export const RESNET_18: Architecture = { name: 'ResNet-18', channels: [64, 128, 256, 512], blocks: 2, classes: 1000 };

/** A tensor of the network. */
export interface Parameter {
  readonly name: string;
  readonly shape: readonly number[];
  /** Untrained weights are spread from -bound to bound. */
  readonly bound: number;
}

/** One residual block. */
export interface Block {
  /** `layer2.0`, as torchvision names it. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** 2 in the first block of each stage but the first. */
  readonly stride: 1 | 2;
}

/** The blocks in order. */
export function blocksOf({ channels, blocks }: Architecture): readonly Block[] {
  return channels.flatMap((to, stage) =>
    Array.from({ length: blocks }, (_, index): Block => {
      const isFirst = index === 0 && stage > 0;
      const from = isFirst ? (channels[stage - 1] as number) : to;
      return { name: `layer${stage + 1}.${index}`, from, to, stride: isFirst ? 2 : 1 };
    }),
  );
}

/** The tensors in order. BatchNorm is folded into the convolution before it: its factor into the weight, the rest is a bias. */
export function parametersOf(architecture: Architecture): readonly Parameter[] {
  const stem = architecture.channels[0] as number;
  const last = architecture.channels.at(-1) as number;
  return [
    ...convolution('conv1', [stem, 3, 7, 7], 1),
    ...blocksOf(architecture).flatMap(({ name, from, to, stride }) => [
      ...convolution(`${name}.conv1`, [to, from, 3, 3], 1),
      ...convolution(`${name}.conv2`, [to, to, 3, 3], 0.5),
      ...(stride === 1 ? [] : convolution(`${name}.downsample`, [to, from, 1, 1], 0.75)),
    ]),
    ...convolution('fc', [architecture.classes, last], 1),
  ];
}

/** Weight and bias; with the gain 1 a layer keeps the variance of what passes a relu. */
function convolution(name: string, shape: readonly number[], gain: number): readonly Parameter[] {
  const fanIn = shape.slice(1).reduce((product, length) => product * length, 1);
  return [
    { name: `${name}.weight`, shape, bound: gain * Math.sqrt(6 / fanIn) },
    { name: `${name}.bias`, shape: [shape[0] as number], bound: 0.125 },
  ];
}
