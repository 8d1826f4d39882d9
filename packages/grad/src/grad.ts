import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { copy, full, Tensor, tidy } from '@concord/ops';
import { denseLayout, listen, listeners, made, type Storage, unheard } from '@concord/ops/listen';
import { invalidArgument } from './errors.ts';
import { isNonOverlapping } from './tape/places.ts';
import { RULES } from './tape/rules.ts';
import { Tape } from './tape/tape.ts';
import { byPath, checkFloats, inOrderOf, mapTensors, tensorsOf, withTensors } from './tree.ts';

/** A value and the gradient of it. */
export interface ValueAndGradient<Value, Argument> {
  readonly value: Value;
  /** Gradients in the form of the argument: each an f32 tensor of the shape of the one in its place. */
  readonly gradient: Argument;
}

/** The result of {@link vjp}: a value, and the function that passes gradients of it on. */
export interface Vjp<Value, Arguments extends readonly unknown[]> extends Disposable {
  readonly value: Value;
  /**
   * The gradients of the arguments from those of the value's tensors, given in its form. May be called once; what was kept is given back.
   *
   * @throws {BackendError} INVALID_ARGUMENT when it was called before, for gradients of another form or shape, and where the function
   *   itself overwrote memory that the gradient needs
   */
  readonly pullback: (gradient: Value) => Arguments;
  /** Frees what is kept for {@link Vjp.pullback}. Idempotent. */
  dispose(): void;
}

/**
 * A function that computes what `f` computes, and the gradient of that, one number, with respect to the tensors of its first argument: a
 * tensor, or lists and plain objects of them. Tensors of the other arguments, and those that `f` finds outside, are constants.
 *
 * What `f` calls are functions of `@concord/ops`, on any backend; views, `tidy` and `out` are as ever. The gradient is of float32 whatever
 * the argument's type. A tensor that the result does not depend on gets zeros. Works inside `record`, and of gradients.
 *
 * @param f - returns a tensor of one float, or a list that begins with it
 * @throws {BackendError} INVALID_ARGUMENT where the function called returns no such tensor, for tensors of integers in its first argument,
 *   and where memory that a gradient needs was overwritten
 * @throws {BackendError} UNSUPPORTED for what has no gradient here: see the table of `@concord/grad`
 * @example
 * ```ts
 * const w = tensor(backend, [1, 2, 3]);
 * const { value, gradient } = valueAndGrad((w: Tensor) => sum(mul(w, w)))(w);
 * await value.toArray(); // [14]
 * await gradient.toArray(); // [2, 4, 6]
 * ```
 */
export function valueAndGrad<
  Argument,
  Others extends readonly unknown[],
  Value extends Tensor | readonly [Tensor, ...unknown[]],
>(
  f: (argument: Argument, ...others: Others) => Value,
): (argument: Argument, ...others: Others) => ValueAndGradient<Value, Argument> {
  if (typeof f !== 'function') throw invalidArgument('valueAndGrad', 'takes a function');
  return (argument, ...others) => {
    if (tensorsOf(argument).length === 0) {
      const hint = 'give a tensor, or lists and plain objects of them: those in objects of a class are not looked for';
      throw invalidArgument('valueAndGrad', 'the first argument has no tensors', hint);
    }
    const { value, tape, leaves } = trace('valueAndGrad', [argument], ([own]) => f(own as Argument, ...others));
    try {
      const loss = (value instanceof Tensor ? value : Object(value)[0]) as Tensor | undefined;
      if (!(loss instanceof Tensor) || loss.size !== 1 || ELEMENT_TYPES[loss.dtype].value !== 'f32') {
        const got = loss instanceof Tensor ? loss.toString() : typeof loss;
        throw invalidArgument('valueAndGrad', `the function must return one float, got ${got}`, 'sum(x) or mean(x)');
      }
      const own = (): readonly unknown[] => pull(tape, leaves, [loss], [full(loss.backend, loss.shape, 1)], [argument]);
      const [gradient] = tidy(own);
      return { value, gradient: gradient as Argument };
    } catch (error) {
      for (const each of tensorsOf(value)) each.dispose();
      throw error;
    } finally {
      tape.dispose();
    }
  };
}

/**
 * {@link valueAndGrad} without the value.
 *
 * @throws {BackendError} as {@link valueAndGrad}
 * @example
 * ```ts
 * const slope = grad((x: Tensor) => sum(mul(x, mul(x, x))));
 * await slope(tensor(backend, [2])).toArray(); // [12]
 * await grad((x: Tensor) => sum(slope(x)))(tensor(backend, [2])).toArray(); // [12]
 * ```
 */
export function grad<Argument, Others extends readonly unknown[]>(
  f: (argument: Argument, ...others: Others) => Tensor | readonly [Tensor, ...unknown[]],
): (argument: Argument, ...others: Others) => Argument {
  const both = valueAndGrad(f);
  return (argument, ...others) => {
    const { value, gradient } = both(argument, ...others);
    for (const each of tensorsOf(value)) each.dispose();
    return gradient;
  };
}

/**
 * Returns the result of `f`, from tensors or trees of them, and a function that passes gradients of that result on to
 * the arguments: the product of a vector and the Jacobian. Arguments that the result does not depend on get zeros. The
 * tensors that `f` read must stay as they are until then: what is written to them after `vjp` is not seen.
 *
 * @throws {BackendError} INVALID_ARGUMENT for tensors of integers; UNSUPPORTED as {@link valueAndGrad}
 * @example
 * ```ts
 * const { value, pullback } = vjp((a: Tensor, b: Tensor) => mul(a, b), tensor(backend, [2, 3]), tensor(backend, [5, 7]));
 * const [a, b] = pullback(tensor(backend, [1, 10]));
 * await a.toArray(); // [5, 70]
 * await b.toArray(); // [2, 30]
 * ```
 */
export function vjp<Value, Arguments extends readonly unknown[]>(
  f: (...primals: Arguments) => Value,
  ...primals: Arguments
): Vjp<Value, Arguments> {
  const { value, tape, leaves } = trace('vjp', primals, (own) => f(...(own as unknown as Arguments)));
  const results = tensorsOf(value).map((each) => tape.hold(each));
  for (const each of results) each.watch();
  const form = byPath(value);
  let isDone = false;
  const dispose = (): void => {
    isDone = true;
    for (const each of results.splice(0)) each.dispose();
    tape.dispose();
  };
  const pullback = (gradient: Value): Arguments => {
    if (isDone) throw invalidArgument('pullback', 'may be called once, and not after dispose', 'call vjp again');
    const given = inOrderOf('pullback', 'value', form, gradient);
    // Of integers there is none.
    checkFloats(
      'pullback',
      given.filter((_, at) => tape.wants(results[at] as Tensor)),
    );
    try {
      return pull(tape, leaves, results, given, primals) as unknown as Arguments;
    } finally {
      dispose();
    }
  };
  return { value, pullback, dispose, [Symbol.dispose]: dispose };
}

interface Trace<Value> {
  readonly value: Value;
  readonly tape: Tape;
  /** Places of the tensors of the arguments. */
  readonly leaves: readonly Tensor[];
}

/** Runs a function on handles of the tensors of its arguments, and takes its launches down. */
function trace<Value>(op: string, primals: readonly unknown[], f: (own: readonly unknown[]) => Value): Trace<Value> {
  if (typeof f !== 'function') throw invalidArgument(op, 'takes a function');
  checkFloats(op, primals);
  const tape = new Tape(RULES);
  const leaves: Tensor[] = [];
  const seen = new Set<Storage>();
  try {
    const value = tidy(() => {
      const own = mapTensors([...primals], (x) => {
        // Each element has a gradient of its own.
        const isUnshared = isNonOverlapping(x.shape, x.strides) && !seen.has(x.storage);
        seen.add(x.storage);
        const leaf = tape.leaf(isUnshared ? x : copy(x));
        leaves.push(leaf);
        return leaf;
      });
      const result = listen(tape, () => f(own));
      if (typeof Object(result).then === 'function') {
        // Whatever it still does is not to end in an unhandled rejection besides.
        (result as PromiseLike<unknown>).then(undefined, () => undefined);
        throw invalidArgument(
          op,
          'the function must return at once, got a promise',
          'read what it returns outside of it',
        );
      }
      // They go with the tape; what is computed again may find them outside.
      const isOwn = (x: Tensor): boolean => leaves.includes(x);
      const handle = (x: Tensor): Tensor => (isOwn(x) ? made(tape.hold(x)) : x);
      return tensorsOf(result).some(isOwn) ? mapTensors(result, handle) : result;
    });
    return { value, tape, leaves };
  } catch (error) {
    tape.dispose();
    throw error;
  }
}

/** Passes gradients of results on, and gives those of leaves in the form of the arguments. */
function pull(
  tape: Tape,
  leaves: readonly Tensor[],
  results: readonly Tensor[],
  gradients: readonly Tensor[],
  form: readonly unknown[],
): readonly unknown[] {
  return tidy(() => {
    for (const [index, result] of results.entries()) {
      const held = tape.hold(result);
      // Of integers there is none.
      if (tape.wants(held)) tape.give(held, gradients[index] as Tensor);
      held.dispose();
    }
    tape.backward();
    return withTensors(
      form,
      leaves.map((leaf) => gradientOf(tape, leaf)),
    );
  });
}

function gradientOf(tape: Tape, leaf: Tensor): Tensor {
  const view = tape.gradientOf(leaf);
  if (view === undefined) return full(leaf.backend, leaf.shape, 0);
  try {
    const isOwn = view.isDense && view.storage.users === 2 && view.storage.bytes === view.size * 4;
    return isOwn ? made(new Tensor(view.storage, denseLayout(view.shape, 'f32'))) : copy(view);
  } finally {
    view.dispose();
  }
}

/**
 * The same numbers as a constant: nothing is passed on to what they were computed from. A copy.
 *
 * @example
 * ```ts
 * const x = tensor(backend, [3]);
 * await grad((x: Tensor) => sum(mul(x, stopGradient(x))))(x).toArray(); // [3]
 * ```
 */
export function stopGradient(x: Tensor): Tensor {
  return unheard(() => copy(x));
}

/** The tapes that listen. */
function tapes(): Tape[] {
  return listeners.filter((each) => each instanceof Tape);
}

/**
 * Calls a function, and returns its result in memory that is not that of its arguments: these have gradients of their
 * own. No listener hears of it.
 */
function ownResult<Arguments extends readonly unknown[], Value>(
  parts: Arguments,
  f: (...parts: Arguments) => Value,
): Value {
  const shared = new Set(tensorsOf(parts).map(({ storage }) => storage));
  return unheard(() => tidy(() => mapTensors(f(...parts), (x) => (shared.has(x.storage) ? copy(x) : x))));
}

/**
 * A function as `f`, of which only the arguments and the result are kept for the gradient: it is computed again when that is. Saves memory
 * for time: of a transformer, that of all blocks but one. What `f` reads besides its arguments has to be there still: give it as an
 * argument where the function that is differentiated makes it.
 *
 * @throws {BackendError} as `f`, which must give the same again
 * @example
 * ```ts
 * const block = checkpoint((x: Tensor) => tanh(mul(x, x)));
 * await grad((x: Tensor) => sum(block(x)))(tensor(backend, [0])).toArray(); // [0]
 * ```
 */
export function checkpoint<Arguments extends readonly unknown[], Value>(
  f: (...parts: Arguments) => Value,
): (...parts: Arguments) => Value {
  return (...parts) => {
    const value = ownResult(parts, f);
    for (const tape of tapes()) {
      const held = mapTensors(parts, (x) => tape.hold(x));
      tape.record({
        op: 'checkpoint',
        outputs: tensorsOf(value).map((each) => tape.hold(each)),
        kept: tensorsOf(held),
        backward: (gradients) =>
          tape.again(
            () => tensorsOf(f(...held)),
            () => gradients,
          ),
      });
    }
    return value;
  };
}

/**
 * A function of tensors whose gradient is another function's, not derived from its parts. Tensors that `f` reads
 * besides its arguments are constant.
 *
 * @param backward - the gradients of the arguments, undefined if there is none, from that of the result, the arguments and the result
 * @throws {BackendError} INVALID_ARGUMENT where it gives another number of gradients, or of another shape
 * @example
 * ```ts
 * // The step function, with the gradient of the identity.
 * const step = customVjp((x: Tensor) => cast(greater(x, 0), 'f32'), (g) => [g]);
 * await grad((x: Tensor) => sum(step(x)))(tensor(backend, [-1, 2])).toArray(); // [1, 1]
 * ```
 */
export function customVjp<Arguments extends readonly Tensor[]>(
  f: (...xs: Arguments) => Tensor,
  backward: (gradient: Tensor, xs: Arguments, result: Tensor) => readonly (Tensor | undefined)[],
): (...xs: Arguments) => Tensor {
  return (...xs) => {
    const value = ownResult(xs, f);
    for (const tape of tapes()) {
      if (!xs.some((x) => tape.wants(x))) continue;
      const held = xs.map((x) => tape.hold(x));
      const result = tape.hold(value);
      tape.record({
        op: 'customVjp',
        outputs: [tape.hold(value)],
        kept: held,
        results: [result],
        backward: ([gradient]) => {
          const given = backward(gradient as Tensor, held as unknown as Arguments, result);
          const fits = (each: Tensor | undefined, at: number): boolean =>
            each === undefined || (each instanceof Tensor && each.shape.join() === xs[at]?.shape.join());
          if (!Array.isArray(given) || given.length !== held.length || !given.every(fits)) {
            throw invalidArgument(
              'customVjp',
              'backward must give a list of a gradient, or undefined, for each argument',
            );
          }
          checkFloats(
            'customVjp',
            given.filter((_, at) => tape.wants(held[at] as Tensor)),
          );
          for (const [at, each] of given.entries()) {
            const to = held[at] as Tensor;
            // What backward gives may be memory that it uses again.
            if (each !== undefined && tape.wants(to)) tape.give(to, copy(each));
          }
        },
      });
    }
    return value;
  };
}
