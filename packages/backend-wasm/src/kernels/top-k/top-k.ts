import type { CheckedTopK, OpKernel, ResolvedTopK } from '@concord/backend-core/implement';
import {
  callStatement,
  type FunctionBody,
  type FunctionHandle,
  i32,
  i32x4,
  type Local,
  ModuleBuilder,
  type Operand,
  type Statement,
  v128,
  type Value,
} from '../../encoder/index.ts';
import { Arguments, codeOfTiles, operandAddress } from '../common/arguments.ts';
import type { Launcher, WasmBuffer, WasmTraits } from '../kernel.ts';
import { CodeCache } from '../common/code-cache.ts';

/** Bytes of an element of the heap: its key and its place in the row. */
const BYTES = 8;

type Sink = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32'], 'none'>;

/** True if the element at an address of the heap is worse than another: by signed key; of equal keys the later one is worse. */
const isWorse = (at: Value<'i32'>, key: Value<'i32'>, place: Value<'i32'>): Value<'i32'> =>
  i32.or(i32.ltS(i32.load(at), key), i32.and(i32.eq(i32.load(at), key), i32.gtU(i32.load(at, 4), place)));

/** The code of a binary heap in which each element is worse than those below it. */
class WorstOnTop {
  readonly #sink: Sink;

  constructor(module: ModuleBuilder) {
    this.#sink = addSink(module);
  }

  /** Replaces the element at `at`, among the first `size`, and moves the new one down until the heap is in order. */
  sink(
    heap: Local<'i32'>,
    at: Operand<'i32'>,
    key: Value<'i32'>,
    place: Value<'i32'>,
    size: Operand<'i32'>,
  ): Statement {
    return callStatement(this.#sink, heap, at, key, place, size);
  }

  /** The address of an element; its place is 4 bytes after its key. */
  address(heap: Local<'i32'>, at: Operand<'i32'>): Value<'i32'> {
    return i32.add(heap, i32.mul(at, BYTES));
  }
}

/** `(heap, at, key, place, size)` */
function addSink(module: ModuleBuilder): Sink {
  return module.function(
    { params: ['i32', 'i32', 'i32', 'i32', 'i32'], result: 'none' },
    (body, heap, at, key, place, size) => {
      const address = (of: Value<'i32'>): Value<'i32'> => i32.add(heap, i32.mul(of, BYTES));
      body.block((done) => {
        body.loop((again) => {
          const child = body.let(i32.add(i32.shl(at, 1), 1));
          body.branchIf(done, i32.geU(child, size));
          const next = body.let(address(child));
          body.if(i32.ltU(i32.add(child, 1), size), () =>
            body.if(isWorse(i32.add(next, BYTES), i32.load(next), i32.load(next, 4)), () => {
              body.increase(child, 1);
              body.increase(next, BYTES);
            }),
          );
          body.branchIf(done, i32.eqz(isWorse(next, key, place)));
          const to = body.let(address(at));
          body.emit(i32.store(to, i32.load(next)), i32.store(to, i32.load(next, 4), 4));
          body.set(at, child);
          body.branch(again);
        });
      });
      const to = body.let(address(at));
      body.emit(i32.store(to, key), i32.store(to, place, 4));
    },
  );
}

const INFINITY = 0x7f80_0000;
const MAGNITUDE = 0x7fff_ffff;

type TopKArgument = 'input' | 'values' | 'indices' | 'columns' | 'k' | 'flip';

/** The arguments that {@link topKCode} reads; `flip` turns the order of keys around where it is -1. */
const TOP_K: Arguments<TopKArgument> = new Arguments(['input', 'values', 'indices', 'columns', 'k', 'flip']);

/**
 * Code whose tiles each select from a row. Most elements cost a comparison with the worst of the best so far, four at a time. A
 * later element that equals it is no better, so that of equals the first stay.
 */
function topKCode(traits: WasmTraits): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const worst = new WorstOnTop(module);
  return codeOfTiles(module, (body, args, firstRow, endRow, heap) => {
    const word = (name: TopKArgument): Local<'i32'> => body.let(TOP_K.word(args, name));
    const [input, values, indices] = [word('input'), word('values'), word('indices')];
    const [columns, k] = [word('columns'), word('k')];
    const keyOf = keys(body, TOP_K.word(args, 'flip'));
    body.for(firstRow, endRow, 1, (row) => {
      const line = body.let(i32.add(input, i32.shl(i32.mul(row, columns), 2)));
      const element = (place: Value<'i32'>): Value<'i32'> => i32.add(line, i32.shl(place, 2));
      body.for(0, k, 1, (place) => {
        const at = body.let(worst.address(heap, place));
        const key = i32x4.extractLane(keyOf(v128.load32Zero(element(place))), 0);
        body.emit(i32.store(at, key), i32.store(at, place, 4));
      });
      const parent = body.let(i32.shrU(k, 1));
      body.while(i32.ne(parent, 0), () => {
        body.increase(parent, -1);
        const at = worst.address(heap, parent);
        body.emit(worst.sink(heap, parent, i32.load(at), i32.load(at, 4), k));
      });
      const offer = (key: Value<'i32'>, place: Value<'i32'>): void =>
        body.if(i32.gtS(key, i32.load(heap)), () => body.emit(worst.sink(heap, 0, key, place, k)));
      const whole = body.let(i32.add(k, i32.and(i32.sub(columns, k), -4)));
      body.for(k, whole, 4, (place) => {
        const four = body.let(keyOf(v128.load(element(place))));
        body.if(v128.anyTrue(i32x4.gtS(four, v128.load32Splat(heap))), () => {
          for (let lane = 0; lane < 4; lane++) offer(i32x4.extractLane(four, lane), i32.add(place, lane));
        });
      });
      body.for(whole, columns, 1, (place) => {
        offer(body.let(i32x4.extractLane(keyOf(v128.load32Zero(element(place))), 0)), place);
      });
      // The worst of those that are left goes after the others.
      const left = body.let(k);
      body.while(i32.ne(left, 0), () => {
        body.increase(left, -1);
        const place = body.let(i32.load(heap, 4));
        const to = body.let(i32.shl(i32.add(i32.mul(row, k), left), 2));
        body.emit(i32.store(i32.add(indices, to), place), i32.store(i32.add(values, to), i32.load(element(place))));
        const last = worst.address(heap, left);
        body.emit(worst.sink(heap, 0, i32.load(last), i32.load(last, 4), left));
      });
    });
  });
}

/** The bits of numbers as signed integers in the order of the numbers: zeros are equal, NaN is above Infinity. */
function keys(body: FunctionBody, flip: Value<'i32'>): (bits: Value<'v128'>) => Value<'v128'> {
  const [magnitudes, infinity] = [body.let(i32x4.splat(MAGNITUDE)), body.let(i32x4.splat(INFINITY))];
  const [zero, flips] = [body.let(i32x4.splat(0)), body.let(i32x4.splat(flip))];
  return (from) => {
    const bits = body.let(from);
    const magnitude = body.let(v128.and(bits, magnitudes));
    const ordered = v128.xor(bits, v128.and(i32x4.shrS(bits, 31), magnitudes));
    const known = v128.bitselect(magnitudes, ordered, i32x4.gtS(magnitude, infinity));
    return v128.xor(v128.andnot(known, i32x4.eq(magnitude, zero)), flips);
  };
}

/** topK: a tile is a row, in one pass with a heap of the best so far. */
export function topKKernel(launcher: Launcher): OpKernel<CheckedTopK, ResolvedTopK<WasmBuffer>> {
  const codes = new CodeCache(launcher.traits);
  return {
    dtypes: ['f32'],
    run: ({ rows, columns, k, largest, input, values, indices }) => {
      const args = TOP_K.pack(
        {
          input: operandAddress(input),
          values: operandAddress(values),
          indices: operandAddress(indices),
          columns,
          k,
          // Inverting all bits of a key makes the smallest one the largest.
          flip: largest ? 0 : -1,
        },
        {},
      );
      launcher.launch({ code: codes.get('', topKCode), args, tiles: rows, scratchBytes: 8 * k });
    },
  };
}
