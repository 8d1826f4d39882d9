import type { NamesIn } from '@concord/variants';
import type { FloatDType } from '@concord/backend-core';
import { BYTES_OF, type CheckedConv2d, type ResolvedConv2d } from '@concord/backend-core/implement';
import {
  callStatement,
  f32,
  f32x4,
  type FunctionBody,
  i32,
  type Local,
  ModuleBuilder,
  v128,
  type Value,
} from '../../encoder/index.ts';
import { Arguments, codeOfTiles, operandAddress } from '../common/arguments.ts';
import { floatStorage, STORAGE_SHIFT } from '../common/float-storage.ts';
import { divided, lesser, type MultiplyAdd, multiplyAdd } from '../common/integers.ts';
import { type TileEpilogue, tileEpilogue, withEpilogueArguments } from '../epilogue/epilogue-tile.ts';
import { storeTile } from '../gemm/micro-kernel.ts';
import type { Launcher, WasmBuffer, WasmTraits } from '../kernel.ts';
import { everyOther } from './window-columns.ts';
import type { CodeCache } from '../common/code-cache.ts';
import { eachPadded, paddedSize } from './padded-images.ts';

const OF_PLANES = 'images filter output filters filtersOfChannel planeSize rowStep tapRow';
const OF_OUTPUTS = 'outputHeight outputWidth rowsOfTile tilesOfPlane firstImage';
type DepthwiseArgument = NamesIn<typeof OF_PLANES | typeof OF_OUTPUTS>;

/**
 * The arguments that {@link depthwiseCode} reads: float32 planes of `planeSize` elements without padding. An output's row is `rowStep`
 * elements of a plane after the previous one, a filter's row `tapRow`. A tile is `rowsOfTile` rows of a plane of the output.
 */
const DEPTHWISE: Arguments<DepthwiseArgument> = new Arguments([OF_PLANES, OF_OUTPUTS]);

/** The parameters of the code of a depthwise convolution. */
interface DepthwiseForm {
  readonly dtype: FloatDType;
  readonly filterHeight: number;
  readonly filterWidth: number;
  /** Elements between neighbours of an output's row, and of a filter's, in the image. */
  readonly columnStep: number;
  readonly tapColumn: number;
}

/** Code of a convolution in which each group has one channel: each output is a sum over one filter, whose elements are locals. */
function depthwiseCode(traits: WasmTraits, form: DepthwiseForm, epilogue: TileEpilogue | undefined): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const { dtype, filterHeight, filterWidth } = form;
  const shift = STORAGE_SHIFT[dtype];
  const madd = multiplyAdd(traits);
  const store = storeTile(module, dtype);
  const finish = epilogue?.emit(module, traits);
  return codeOfTiles(module, (body, args, firstTile, end, scratch) => {
    const word = (name: DepthwiseArgument): Value<'i32'> => DEPTHWISE.word(args, name);
    const filterStorage = floatStorage(dtype, body);
    const width = body.let(word('outputWidth'));
    const height = body.let(word('outputHeight'));
    body.for(firstTile, end, 1, (tile) => {
      const { quotient: plane, remainder: part } = divided(body, tile, word('tilesOfPlane'));
      const { quotient: image, remainder: filter } = divided(body, plane, word('filters'));
      const firstRow = body.let(i32.mul(part, word('rowsOfTile')));
      const rows = body.let(lesser(word('rowsOfTile'), i32.sub(height, firstRow)));
      const taps = i32.add(word('filter'), i32.shl(i32.mul(filter, filterHeight * filterWidth), shift));
      const weights = Array.from({ length: filterHeight * filterWidth }, (_, tap) =>
        body.let(f32x4.splat(filterStorage.load1(taps, tap << shift))),
      );
      const channel = i32.divU(plane, word('filtersOfChannel'));
      const start = i32.add(i32.mul(channel, word('planeSize')), i32.mul(firstRow, word('rowStep')));
      const line = body.let(i32.add(word('images'), i32.shl(start, 2)));
      const sums = body.let(scratch);
      body.for(0, rows, 1, () => {
        sumRow(body, madd, form, weights, { line, tapRow: body.let(i32.shl(word('tapRow'), 2)), sums, width });
        body.increase(line, i32.shl(word('rowStep'), 2));
      });
      const column = body.let(i32.mul(firstRow, width));
      const count = body.let(i32.mul(rows, width));
      const place = i32.add(i32.mul(i32.mul(plane, height), width), column);
      const to = body.let(i32.add(word('output'), i32.shl(place, shift)));
      if (finish === undefined) body.emit(callStatement(store, to, 0, scratch, 0, 1, count, 1, 0));
      else {
        const at = [i32.add(image, word('firstImage')), filter, column] as const;
        body.emit(callStatement(finish, i32.add(args, DEPTHWISE.bytes), to, 0, scratch, 0, 1, count, ...at));
      }
    });
  });
}

interface Row {
  /** The element of the image under the first output's first tap. */
  readonly line: Local<'i32'>;
  readonly tapRow: Local<'i32'>;
  /** The address of the row's sums; afterwards that of their end. */
  readonly sums: Local<'i32'>;
  readonly width: Local<'i32'>;
}

/** The sums of a row of outputs, four at a time where their elements lie side by side or are every other one. */
function sumRow(
  body: FunctionBody,
  madd: MultiplyAdd,
  { filterHeight, filterWidth, columnStep, tapColumn }: DepthwiseForm,
  weights: readonly Local<'v128'>[],
  { line, tapRow, sums, width }: Row,
): void {
  const lines = [body.let(line)];
  for (let row = 1; row < filterHeight; row++) lines.push(body.let(i32.add(lines[row - 1] as Local<'i32'>, tapRow)));
  const eachTap = (tap: (source: Local<'i32'>, offset: number, weight: Local<'v128'>) => void): void => {
    for (const [row, source] of lines.entries()) {
      for (let column = 0; column < filterWidth; column++) {
        tap(source, 4 * column * tapColumn, weights[row * filterWidth + column] as Local<'v128'>);
      }
    }
  };
  const next = (outputs: number): void => {
    for (const source of lines) body.increase(source, 4 * columnStep * outputs);
    body.increase(sums, 4 * outputs);
  };
  const fours = columnStep <= 2 ? body.let(i32.and(width, -4)) : 0;
  if (columnStep <= 2) {
    body.for(0, fours, 4, () => {
      const sum = body.let(f32x4.splat(0));
      eachTap((source, offset, weight) => {
        const elements = columnStep === 1 ? v128.load(source, offset) : everyOther(source, offset);
        body.set(sum, madd(weight, elements, sum));
      });
      body.emit(v128.store(sums, sum));
      next(4);
    });
  }
  body.for(fours, width, 1, () => {
    const sum = body.let(f32.const(0));
    eachTap((source, offset, weight) => {
      body.set(sum, f32.add(sum, f32.mul(f32x4.extractLane(weight, 0), f32.load(source, offset))));
    });
    body.emit(f32.store(sums, sum));
    next(1);
  });
}

/** Code has an instruction for each element of a filter. */
const MAX_TAPS = 49;
/** The maximum number of outputs of a tile, whose sums stay in the first level of cache; a row may have more. */
const MAX_OUTPUTS = 4096;

/** True if each group has one channel, and a filter that is not too large. */
export function isDepthwise({ filterShape, groups }: CheckedConv2d): boolean {
  return groups > 1 && filterShape[1] === 1 && filterShape[2] * filterShape[3] <= MAX_TAPS;
}

/** Queues a convolution in which each output is a sum over one channel. */
export function convolveDepthwise(launcher: Launcher, codes: CodeCache, call: ResolvedConv2d<WasmBuffer>): void {
  const { inputShape, filterShape, outputShape, stride, dilation, dtype } = call;
  const [filters, , filterHeight, filterWidth] = filterShape;
  const [, , outputHeight, outputWidth] = outputShape;
  const form = { dtype, filterHeight, filterWidth, columnStep: stride[1], tapColumn: dilation[1] };
  const epilogue = tileEpilogue(call);
  const key = `depthwise ${Object.values(form).join()} ${epilogue?.key ?? ''}`;
  const code = codes.get(key, (traits) => depthwiseCode(traits, form, epilogue));
  const { height, width } = paddedSize(call);
  const rowsOfTile = Math.min(outputHeight, Math.max(1, Math.floor(MAX_OUTPUTS / outputWidth)));
  const tilesOfPlane = Math.ceil(outputHeight / rowsOfTile);
  const imageBytes = BYTES_OF[dtype] * filters * outputHeight * outputWidth;
  eachPadded(launcher, codes, call, (images, firstImage, count) => {
    const args = DEPTHWISE.pack(
      {
        images,
        filter: operandAddress(call.filter),
        output: operandAddress(call.output) + firstImage * imageBytes,
        filters,
        filtersOfChannel: filters / inputShape[1],
        planeSize: height * width,
        rowStep: stride[0] * width,
        tapRow: dilation[0] * width,
        outputHeight,
        outputWidth,
        rowsOfTile,
        tilesOfPlane,
        firstImage,
      },
      {},
    );
    const scratchBytes = 4 * rowsOfTile * outputWidth;
    launcher.launch({
      code,
      args: withEpilogueArguments(args, epilogue, code),
      tiles: count * filters * tilesOfPlane,
      scratchBytes,
    });
  });
}
