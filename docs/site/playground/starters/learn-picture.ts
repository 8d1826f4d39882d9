import { selectBackend } from '@concord/backend-core';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { adamW, valueAndGrad } from '@concord/grad';
import {
  linear,
  mean,
  randomNormal,
  reshape,
  sigmoid,
  sin,
  square,
  sub,
  type Tensor,
  tensor,
  tidy,
} from '@concord/ops';
import { picture, show } from 'playground';

const { backend } = await selectBackend([webgpu(), wasm()]);
const { values, shape } = picture();
const [height, width] = shape;
const points = height * width;

// A small network learns the picture: from a place to its colour. Sines of many frequencies let it draw edges.
const places = Float32Array.from({ length: 2 * points }, (_, i) =>
  i % 2 === 0 ? ((i / 2) % width) / height - 0.5 : Math.floor(i / 2 / width) / height - 0.5,
);
const colours = Float32Array.from({ length: 3 * points }, (_, i) => values[4 * Math.floor(i / 3) + (i % 3)]!);
const [x, wanted] = [tensor(backend, places, [points, 2]), tensor(backend, colours, [points, 3])];
const waves = randomNormal(backend, [64, 2], { seed: 1, std: 18 });
const network = {
  first: randomNormal(backend, [64, 64], { seed: 2, std: 0.2 }),
  second: randomNormal(backend, [3, 64], { seed: 3, std: 0.2 }),
};
type Network = typeof network;
const draw = ({ first, second }: Network): Tensor => sigmoid(linear(sin(linear(sin(linear(x, waves)), first)), second));
const lossAndGradient = valueAndGrad((weights: Network) => mean(square(sub(draw(weights), wanted))));
const optimizer = adamW(network, { rate: 0.01 });

for (let i = 0; i <= 300; i++) {
  const loss = tidy(() => {
    const { value, gradient } = lossAndGradient(network);
    optimizer.step(gradient);
    return value;
  });
  if (i % 10 === 0) {
    const drawn = tidy(() => reshape(draw(network), [height, width, 3]));
    await show(drawn, 'what it has learned');
    drawn.dispose();
    if (i % 50 === 0) console.log(`step ${i}: loss ${(await loss.item()).toFixed(5)}`);
  }
  loss.dispose();
}
