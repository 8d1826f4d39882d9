import { defineKernel, type Value } from '@concord/backend-core/kernel';
import { picture, run } from 'playground';

// Sobel's filter: how steeply the grey of a picture changes, at each pixel.
const edges = defineKernel(
  'edges',
  { inputs: { image: { type: 'f32', access: 'gather', rank: 3 } } },
  ({ image }, k) => {
    const [row, column] = [k.toI32(k.index(0)), k.toI32(k.index(1))];
    // The grey of a neighbour; beside the picture it is black.
    const grey = (down: number, right: number): Value<'f32'> => {
      const channel = (c: number) => k.gather(image, [k.add(row, down), k.add(column, right), k.u32(c)], 0);
      return k.add(k.add(k.mul(channel(0), 0.299), k.mul(channel(1), 0.587)), k.mul(channel(2), 0.114));
    };
    const slope = (at: (along: number, across: number) => Value<'f32'>): Value<'f32'> => {
      const side = (along: number) => k.add(k.add(at(along, -1), k.mul(at(along, 0), 2)), at(along, 1));
      return k.sub(side(1), side(-1));
    };
    const [down, right] = [slope(grey), slope((along, across) => grey(across, along))];
    return { y: k.sqrt(k.add(k.mul(down, down), k.mul(right, right))) };
  },
);

const { values, shape } = picture();
const [height, width] = shape;
run(edges, { shape: [height, width], inputs: { image: { values, shape } } });
