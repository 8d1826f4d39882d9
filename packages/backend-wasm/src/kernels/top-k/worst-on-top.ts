import {
  callStatement,
  type FunctionHandle,
  i32,
  type Local,
  type ModuleBuilder,
  type Operand,
  type Statement,
  type Value,
} from '../../encoder/index.ts';

/** Bytes of an element of the heap: its key and its place in the row. */
const BYTES = 8;

type Sink = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32'], 'none'>;

/** True if the element at an address of the heap is worse than another: by signed key; of equal keys the later one is worse. */
const isWorse = (at: Value<'i32'>, key: Value<'i32'>, place: Value<'i32'>): Value<'i32'> =>
  i32.or(i32.ltS(i32.load(at), key), i32.and(i32.eq(i32.load(at), key), i32.gtU(i32.load(at, 4), place)));

/** The code of a binary heap in which each element is worse than those below it. */
export class WorstOnTop {
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
