import { copiedTo } from '../compute/produce.ts';
import { viewOf } from '../tensor/allocate.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { expand } from '../views/expand.ts';
import { permute } from '../views/permute.ts';
import { reshape } from '../views/reshape.ts';
import { pad } from '../shaping/pad.ts';
import { checkConvolution, type ConvOptions, convolve } from './conv2d.ts';
import { partedSides, partedTriple, type Sides3, type Triple } from './triple.ts';
import { placesAlong, windowOf } from './window.ts';

/** Options of {@link conv3d}. */
export interface Conv3dOptions extends ConvOptions {
  /** Default 1. */
  readonly stride?: Triple;
  /** Zeros around each volume. Default 0. */
  readonly padding?: Sides3;
  /** Distance of the elements that a filter takes. Default 1. */
  readonly dilation?: Triple;
}

/**
 * {@link conv2d} of three axes, as conv3d of PyTorch: `x` is `[n, c, d, h, w]`, `w` `[k, c / groups, t, r, s]`, the result
 * `[n, k, o, p, q]`. f32, or f16 with sums in float32. The planes that a filter takes are laid side by side as channels, which
 * copies `x` t / stride times, and convolved at once. The result is a view whose planes lie by depth, then by channel.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, and element types that differ
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [1, 2, 3, 4, 5, 6, 7, 8], [1, 1, 2, 2, 2]);
 * const w = tensor(backend, [1, -1], [1, 1, 2, 1, 1]);
 * await conv3d(x, w, { bias: tensor(backend, [0.5]) }).toArray(); // [-3.5, -3.5, -3.5, -3.5]
 * ```
 */
export function conv3d(x: Tensor, w: Tensor, options: Conv3dOptions = {}): Tensor {
  const op = 'conv3d';
  checkConvolution(op, x, w, options);
  const { stride = 1, padding = 0, dilation = 1, residual, groups = 1, out, ...others } = options;
  const [n = 0, c = 0, depth = 0, height = 0, width = 0] = x.shape;
  const [k = 0, perGroup = 0, t = 0, r = 0, s = 0] = w.shape;
  if (x.rank !== 5 || w.rank !== 5 || c !== perGroup * groups) {
    const form = 'x is [n, c, d, h, w], w [k, c / groups, t, r, s]';
    throw refuse(op, `x ${shapeText(x.shape)} does not fit w ${shapeText(w.shape)} with ${groups} groups: ${form}`);
  }
  const [strides, dilations] = [partedTriple(op, 'stride', stride), partedTriple(op, 'dilation', dilation)];
  const sides = partedSides(op, padding);
  const along = (part: 'depth' | 'planes') => ({
    stride: strides[part],
    padding: sides[part],
    dilation: dilations[part],
  });
  const inDepth = windowOf(op, [depth, 1], [t, 1], along('depth'));
  const inPlanes = windowOf(op, [height, width], [r, s], along('planes'));
  const places = placesAlong(0, depth, inDepth);
  if (places === 0) throw refuse(op, `w ${shapeText(w.shape)} is larger than the padded x ${shapeText(x.shape)}`);
  const shape = [n, places, k, placesAlong(0, height, inPlanes), placesAlong(1, width, inPlanes)] as const;
  const byDepth = [0, 2, 1, 3, 4];
  return tidy(() => {
    const [front, , back] = inDepth.padding;
    const padded =
      front + back === 0
        ? x
        : pad(
            x,
            x.shape.map((_, axis) => (axis === 2 ? [front, back] : [0, 0])),
          );
    const [ofImage = 0, ofChannel = 0, ofPlane = 0, ofRow = 0, ofColumn = 0] = padded.strides;
    const slabs = viewOf(padded, {
      shape: [n, places, c, t, height, width],
      strides: [ofImage, ofPlane * inDepth.stride[0], ofChannel, ofPlane * inDepth.dilation[0], ofRow, ofColumn],
    });
    const added =
      residual &&
      permute(
        expand(
          residual,
          byDepth.map((axis) => shape[axis] as number),
        ),
        byDepth,
      );
    const result = convolve(
      op,
      reshape(slabs, [n * places, c * t, height, width]),
      reshape(w, [k, perGroup * t, r, s]),
      {
        ...others,
        groups,
        ...along('planes'),
        residual: added && reshape(added, [n * places, ...shape.slice(2)]),
      },
    );
    return copiedTo(op, permute(reshape(result, shape), byDepth), out);
  });
}
