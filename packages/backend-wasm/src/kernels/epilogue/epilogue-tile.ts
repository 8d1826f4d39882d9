import { BYTES_OF, type CheckedEpilogue, type Operand } from '@concord/backend-core/implement';
import { canContract } from '@concord/kernel';
import {
  type FunctionBody,
  type FunctionHandle,
  i32,
  type Local,
  type ModuleBuilder,
  select,
} from '../../encoder/index.ts';
import type { WasmBuffer, WasmCode, WasmTraits } from '../kernel.ts';
import { WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import { bitsOf, operandAddress } from '../common/arguments.ts';
import { Cursor } from '../run/cursor.ts';
import { names, type OperandForm } from '../run/form.ts';
import { NodeCode } from '../run/node-code.ts';
import { Words, argumentsOf } from '../run/words.ts';
import { epilogueForm } from './epilogue-form.ts';

/**
 * `(words, to, rowStride, sums, sumsStride, rows, columns, plane, row, column)`: applies an epilogue to a tile of float32 `sums`, and
 * stores the result at `to`. Distances between rows are in bytes; elements of a row lie side by side. The tile begins
 * at that row and column of that plane: of a product at C of that batch, of a convolution at that filter and place of that
 * image. The epilogue's own words lie at `words`.
 */
export type EpilogueTile = FunctionHandle<
  readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  'none'
>;

/** The epilogue of a product, for one tile at a time. */
export class TileEpilogue {
  /** Equal for equal code. */
  readonly key: string;
  readonly #epilogue: CheckedEpilogue;
  readonly #call: CallWithEpilogue;
  #emitted: readonly string[] | undefined;

  constructor(epilogue: CheckedEpilogue, call: CallWithEpilogue) {
    this.key = epilogueForm(epilogue).key;
    this.#epilogue = epilogue;
    this.#call = call;
  }

  /** Adds the function to a module. */
  emit(module: ModuleBuilder, traits: WasmTraits): EpilogueTile {
    const { tile, argNames: own } = emitTile(module, traits, this.#epilogue);
    this.#emitted = own;
    return tile;
  }

  /** The arguments of a call, after those of the product, for code that {@link emit} has a part in, now or in an earlier call. */
  argumentsAfter(args: readonly number[], code: WasmCode): readonly number[] {
    if (this.#emitted !== undefined) argumentNames.set(code, this.#emitted);
    const { values } = epilogueForm(this.#epilogue);
    const all = new Map([...values, ...callArguments(this.#epilogue, this.#call)]);
    return [...args, ...argumentsOf(argumentNames.get(code) as readonly string[], all)];
  }
}

/** A call that may have an epilogue, with its operands. */
export interface CallWithEpilogue {
  readonly epilogue?: CheckedEpilogue | undefined;
}

/** The names of the arguments of an epilogue, by the code that it is a part of. */
const argumentNames = new WeakMap<WasmCode, readonly string[]>();

/** The epilogue of a call, if it has one. */
export function tileEpilogue(call: CallWithEpilogue): TileEpilogue | undefined {
  return call.epilogue === undefined ? undefined : new TileEpilogue(call.epilogue, call);
}

/** The arguments of a command whose code may end with an epilogue: its own, then those of the epilogue. */
export function withEpilogueArguments(
  args: readonly number[],
  epilogue: TileEpilogue | undefined,
  code: WasmCode,
): readonly number[] {
  return epilogue === undefined ? args : epilogue.argumentsAfter(args, code);
}

/** The arguments that change from call to call: where the inputs lie, and the parameters. */
function callArguments(
  { kernel, params }: CheckedEpilogue,
  call: CallWithEpilogue,
): readonly (readonly [string, number])[] {
  const operands = call as unknown as Readonly<Record<string, Operand<WasmBuffer> | undefined>>;
  return [
    ...kernel.inputs.flatMap(({ name }, input) => {
      const operand = operands[`epilogue.${name}`];
      return operand === undefined ? [] : [[names.input(input), operandAddress(operand)] as const];
    }),
    ...kernel.params.map(({ type }, index) => {
      const value = params[index] as number;
      return [names.parameter(index), type === 'f32' ? bitsOf(value) : value] as const;
    }),
  ];
}

function emitTile(
  module: ModuleBuilder,
  { hasFma }: WasmTraits,
  epilogue: CheckedEpilogue,
): { readonly tile: EpilogueTile; readonly argNames: readonly string[] } {
  const { form, accumulator } = epilogueForm(epilogue);
  let list: readonly string[] = [];
  const [root, output] = [form.kernel.outputs[0]?.node as number, form.inputs.length];
  const bytes = BYTES_OF[(form.outputs[0] as OperandForm).dtype];
  const signature = {
    params: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
    result: 'none',
  } as const;
  const tile = module.function(
    signature,
    (body, args, to, rowStride, sums, sumsStride, rows, columns, plane, firstRow, column) => {
      const words = new Words(body, args);
      const cursor = new Cursor(body, words, form, args);
      const code = new NodeCode(new WasmArithmetic(body, words, hasFma && canContract(form.kernel)), cursor);
      code.compute([root], 0, 1);
      const row = body.let(firstRow);
      body.for(0, rows, 1, () => {
        pieces(body, cursor, column, columns, (outer, start, count, done) => {
          // The walk adds the distance to `start`.
          const pointer = (from: Local<'i32'>, size: number): Local<'i32'> =>
            body.let(i32.add(from, i32.mul(i32.sub(done, start), size)));
          const own = new Map([
            [accumulator, pointer(sums, 4)],
            [output, pointer(to, bytes)],
          ]);
          const indices = [plane, row, ...outer];
          cursor.at(
            indices.map((_, axis) => axis),
            indices,
            own,
            () => {
              code.enter(2);
              code.compute([root], 2, 1);
              cursor.blocks({ start, count, units: 1 }, (vectors) => {
                code.enter(3);
                code.compute([root], 3, vectors);
                code.store([0], vectors);
              });
            },
          );
        });
        body.increase(sums, sumsStride);
        body.increase(to, rowStride);
        body.increase(row, 1);
      });
      list = words.names;
    },
  );
  return { tile, argNames: list };
}

/** Columns of the tile that lie along the last axis of the form: all at once, or line by line. */
function pieces(
  body: FunctionBody,
  cursor: Cursor,
  column: Local<'i32'>,
  columns: Local<'i32'>,
  each: (outer: readonly Local<'i32'>[], start: Local<'i32'>, count: Local<'i32'>, done: Local<'i32'>) => void,
): void {
  const done = body.let(i32.const(0));
  if (cursor.form.rowRank === 3) {
    each([], column, columns, done);
    return;
  }
  const width = cursor.size(3);
  body.while(i32.ltU(done, columns), () => {
    const place = body.let(i32.add(column, done));
    const line = body.let(i32.divU(place, width));
    const start = body.let(i32.sub(place, i32.mul(line, width)));
    const inLine = body.let(i32.sub(width, start));
    const left = body.let(i32.sub(columns, done));
    const count = body.let(select(i32.ltU(left, inLine), left, inLine));
    each([line], start, count, done);
    body.increase(done, count);
  });
}
