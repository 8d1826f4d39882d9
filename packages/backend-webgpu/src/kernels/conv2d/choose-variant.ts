import type { Kernel } from '../kernel.ts';
import type { DeviceTraits } from '../recorder.ts';
import { direct, DIRECT_LANES, type DirectParams } from './direct.wgsl.ts';
import { implicitGemm, type ImplicitGemmParams } from './implicit-gemm.wgsl.ts';

/** What the choice of a kernel depends on, of a convolution or of a window of it. */
export interface Conv2dShapeTraits {
  readonly groups: number;
  /** Per group. */
  readonly filters: number;
  /** Of all images. */
  readonly outputRows: number;
  readonly outputWidth: number;
  readonly filterWidth: number;
  readonly strideW: number;
  readonly dilationW: number;
}

/** A kernel, and how much of the output each of its workgroups computes. */
export interface Conv2dVariant {
  readonly kernel: Kernel;
  /** Number of workgroups for a shape. */
  readonly groups: (shape: Conv2dShapeTraits) => number;
}

/** Filters per group up to which a tile of a matrix product would be mostly empty. */
const FEW_FILTERS = 8;
/** Workgroups that keep a GPU busy: a larger tile is taken only if that many are left. */
const ENOUGH_WORKGROUPS = 128;

const LARGE_TILE: ImplicitGemmParams = { tile: 128, piece: 8, step: 8 };
const MEDIUM_TILE: ImplicitGemmParams = { tile: 64, piece: 8, step: 16 };
const SMALL_TILE: ImplicitGemmParams = { tile: 32, piece: 4, step: 16 };

/** The kernel for a shape: `direct` on software devices and for few filters per group, else `implicit-gemm`. */
export function chooseVariant(shape: Conv2dShapeTraits, { isSoftware }: DeviceTraits): Conv2dVariant {
  const { filters, outputWidth, filterWidth, strideW, dilationW } = shape;
  const slides = filterWidth > 1 && strideW === dilationW;
  if (isSoftware) {
    const columns = outputWidth === 1 ? 1 : 8;
    return directVariant({ filters: filters === 1 ? 1 : 8, columns, slides: slides && columns > 1 });
  }
  if (filters <= FEW_FILTERS) return directVariant({ filters: filters === 1 ? 1 : 4, columns: 4, slides });
  const large = gemmVariant(LARGE_TILE);
  if (filters > MEDIUM_TILE.tile && large.groups(shape) >= ENOUGH_WORKGROUPS) return large;
  const medium = gemmVariant(MEDIUM_TILE);
  if (filters > SMALL_TILE.tile && medium.groups(shape) >= ENOUGH_WORKGROUPS) return medium;
  return gemmVariant(SMALL_TILE);
}

/** Every kernel that {@link chooseVariant} can give for a device. */
export function conv2dKernels({ isSoftware }: DeviceTraits): readonly Kernel[] {
  const strips = (filters: number, columns: number): Kernel[] =>
    [false, true].map((slides) => direct({ filters, columns, slides }));
  return isSoftware
    ? [...strips(1, 8), ...strips(8, 8), ...[1, 8].map((filters) => direct({ filters, columns: 1, slides: false }))]
    : [...strips(1, 4), ...strips(4, 4), ...[LARGE_TILE, MEDIUM_TILE, SMALL_TILE].map(implicitGemm)];
}

function directVariant(params: DirectParams): Conv2dVariant {
  return {
    kernel: direct(params),
    groups: ({ groups, filters, outputRows, outputWidth }) => {
      const strips = outputRows * Math.ceil(outputWidth / params.columns);
      return groups * Math.ceil(filters / params.filters) * Math.ceil(strips / DIRECT_LANES);
    },
  };
}

function gemmVariant(params: ImplicitGemmParams): Conv2dVariant {
  return {
    kernel: implicitGemm(params),
    groups: ({ groups, filters, outputRows, outputWidth }) =>
      groups * Math.ceil(filters / params.tile) * Math.ceil((outputRows * outputWidth) / params.tile),
  };
}
