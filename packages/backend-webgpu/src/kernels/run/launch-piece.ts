import { vectorAxis } from '@concord/kernel';
import type { Kernel } from '../kernel.ts';
import type { Launch, Recorder } from '../recorder.ts';
import type { BoundPiece, VectorLayout } from './bind.ts';
import { isByIndex, type Piece } from './piece.ts';
import {
  bindingName,
  extentAxes,
  extentName,
  gatherSizeName,
  offsetName,
  type OperandSpec,
  parameterName,
  type RunSpec,
  sizeName,
  startName,
  strideName,
} from './run-spec.ts';

/** The parts that are compiled into the kernels of a piece. */
export function specOf(piece: Piece, bound: BoundPiece, { width, axis }: VectorLayout): RunSpec {
  const { geometry, rowRank, foldedRank, places } = piece;
  return {
    kernel: geometry.kernel,
    rowRank,
    foldedRank,
    width,
    along: axis < rowRank ? 'rows' : 'folded',
    operands: bound.operands,
    bindings: bound.bindings,
    places,
    rank: geometry.shape.length,
    unfolded: geometry.shape.length - geometry.folded,
  };
}

/** Values of the uniforms that every kernel of a piece has. */
export function uniformValues(
  piece: Piece,
  bound: BoundPiece,
  spec: RunSpec,
  params: readonly number[],
): Record<string, number> {
  const { geometry, sizes, starts, operands } = piece;
  const values: Record<string, number> = {};
  for (const [axis, size] of sizes.entries()) {
    values[sizeName(axis)] = axis === vectorAxis(spec) ? size / spec.width : size;
  }
  for (const [, place] of piece.places) values[startName(place)] = starts[place] as number;
  for (const axis of extentAxes(spec)) values[extentName(axis)] = geometry.shape[axis] as number;
  for (const [index, { layout, strides }] of operands.entries()) {
    const isGather = isByIndex(layout);
    const { access, axis: own = vectorAxis(spec) } = bound.operands[index] as OperandSpec;
    const isVector = access === 'vector' && !isGather;
    const unit = isVector ? spec.width : 1;
    values[offsetName(index)] = (bound.offsets[index] as number) / unit;
    for (const [axis, stride] of strides.entries()) {
      values[strideName(index, axis)] = isVector && axis !== own ? stride / unit : stride;
    }
    if (!isGather) continue;
    for (const [axis, size] of layout.shape.entries()) values[gatherSizeName(index, axis)] = size;
  }
  for (const [index, value] of params.entries()) values[parameterName(index)] = value;
  return values;
}

/** Launches a kernel of a piece. */
export function launchPiece(
  recorder: Recorder,
  bound: BoundPiece,
  kernel: Kernel,
  launch: Pick<Launch, 'uniforms' | 'groups' | 'grid' | 'variant'> & { readonly scratch?: Launch['storage'][string] },
): void {
  const { scratch, ...rest } = launch;
  const storage = Object.fromEntries(bound.spans.map((span, index) => [bindingName(index), span]));
  recorder.launch({ kernel, storage: scratch === undefined ? storage : { ...storage, scratch }, ...rest });
}
