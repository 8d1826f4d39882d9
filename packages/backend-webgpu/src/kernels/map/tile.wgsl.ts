import { vectorAxis } from '@concord/kernel';
import { WgslBlock } from '../arithmetic/wgsl-block.ts';
import type { Kernel } from '../kernel.ts';
import { GraphScope, NOWHERE, pointSource, storedBits } from '../run/graph-scope.ts';
import { defineGraphKernel, components, loadAt, type RawValue, storeAt } from '../run/operand-code.ts';
import { type RunSpec, sizeName, uniformsOf } from '../run/run-spec.ts';

/** A tile that is transposed in workgroup memory. */
export interface TileLayout {
  readonly layout: 'tile';
  /** The axis along which the inputs lie that are transposed; `operands[].axis` of the specification says which. */
  readonly across: number;
  /** Elements of a tile along that axis, and along the last. */
  readonly deep: number;
  readonly wide: number;
}

/** Workgroup memory of one input in the smallest tile. */
export const TILE_BYTES: number = 4 * 32 * 33;
/** Invocations of a workgroup. */
export const TILE_LANES = 256;

/**
 * A graph without folds, some of whose inputs are dense along another axis than the outputs: a workgroup loads a tile of
 * each such input along that axis into workgroup memory, a word longer than it is so that columns lie in different
 * banks, and computes along the last axis. Neighbouring workgroups lie along the last axis, one below the other in
 * the input, which was faster on an H200 than the other way round.
 */
export function tileKernel(name: string, spec: RunSpec, { across, deep, wide }: TileLayout): Kernel {
  const block = new WgslBlock();
  const last = vectorAxis(spec);
  const { width } = spec;
  const line = deep + 1;
  const transposed = spec.kernel.inputs.flatMap((_, input) => (spec.operands[input]?.axis === across ? [input] : []));
  placeTile(block, spec, { across, deep, wide });

  const at = (axis: number, own: Readonly<Record<number, string>>): string => own[axis] ?? `c${axis}`;
  const coordinatesOf = (own: Readonly<Record<number, string>>): string[] =>
    Array.from({ length: spec.rowRank }, (_, axis) => at(axis, own));
  // Loading: vectors along `across`.
  for (let first = 0; first < (deep * wide) / width; first += TILE_LANES) {
    const place = block.define(`lane + ${first}u`);
    const d = block.define(`${place} % ${deep / width}u`);
    const w = block.define(`${place} / ${deep / width}u`);
    const own = {
      [across]: block.define(`min(tile_deep / ${width}u + ${d}, u.${sizeName(across)} / ${width}u - 1u)`),
      [last]: block.define(`min(tile_wide + ${w}, u.${sizeName(last)} * ${width}u - 1u)`),
    };
    for (const input of transposed) {
      const raw = loadAt(block, spec, input, coordinatesOf(own));
      for (const [k, part] of components(raw).entries()) {
        block.add(`tile${input}[${w} * ${line}u + ${d} * ${width}u + ${k}u] = ${part};`);
      }
    }
  }
  block.add('workgroupBarrier();');

  const call = new GraphScope(spec, block, NOWHERE);
  call.hoist(['call']);
  for (let first = 0; first < (deep * wide) / width; first += TILE_LANES) {
    const place = block.define(`lane + ${first}u`);
    const w = block.define(`${place} % ${wide / width}u`);
    const d = block.define(`${place} / ${wide / width}u`);
    const [deepAt, wideAt] = [block.define(`tile_deep + ${d}`), block.define(`tile_wide / ${width}u + ${w}`)];
    const coordinates = coordinatesOf({
      [across]: block.define(`min(${deepAt}, u.${sizeName(across)} - 1u)`),
      [last]: block.define(`min(${wideAt}, u.${sizeName(last)} - 1u)`),
    });
    const source = pointSource(spec, block, coordinates);
    const load = (input: number): RawValue =>
      transposed.includes(input)
        ? fromTile(block, input, width, (k) => `(${w} * ${width}u + ${k}u) * ${line}u + ${d}`)
        : source.load(input);
    const scope = new GraphScope(spec, block, { ...source, load }, call);
    const raws = spec.kernel.outputs.map((_, output) => storedBits(spec, output, scope, 'lane'));
    const stores = block.inner();
    for (const [output, raw] of raws.entries()) storeAt(stores, spec, output, coordinates, raw);
    block.enclose(`if (${deepAt} < u.${sizeName(across)} && ${wideAt} < u.${sizeName(last)})`, stores);
  }
  return defineGraphKernel(spec, {
    name,
    uniforms: { tiles_wide: 'u32', tiles_deep: 'u32', ...uniformsOf(spec) },
    declarations: transposed.map((input) => `var<workgroup> tile${input}: array<u32, ${wide * line}>;`),
    lanes: TILE_LANES,
    block,
  });
}

/** Places the workgroup's tile: where it begins along its two axes, and where it lies along the others: `c<axis>`. */
function placeTile(
  block: WgslBlock,
  spec: RunSpec,
  { across, deep, wide }: Pick<TileLayout, 'across' | 'deep' | 'wide'>,
): void {
  block.add('let group = group_index(id, grid);');
  block.add('if (group >= u.group_count) { return; }');
  block.add(`let tile_wide = group % u.tiles_wide * ${wide}u;`);
  block.add('let tile_row = group / u.tiles_wide;');
  block.add(`let tile_deep = tile_row % u.tiles_deep * ${deep}u;`);
  let rest = block.define('tile_row / u.tiles_deep');
  for (let axis = spec.rowRank - 1; axis >= 0; axis--) {
    if (axis === across || axis === vectorAxis(spec)) continue;
    block.add(`let c${axis} = ${rest} % u.${sizeName(axis)};`);
    rest = block.define(`${rest} / u.${sizeName(axis)}`);
  }
}

function fromTile(block: WgslBlock, input: number, width: 1 | 4, place: (k: number) => string): RawValue {
  const parts = Array.from({ length: width }, (_, k) => `tile${input}[${place(k)}]`);
  const text = width === 1 ? (parts[0] as string) : `vec4u(${parts.join(', ')})`;
  return { text: block.define(text), type: 'u32', width };
}
