import {
  canContract,
  foldsOf,
  outputsOf,
  partFoldsOf,
  type PhaseFold,
  scansOf,
  storedNodes,
  vectorAxis,
} from '@concord/kernel';
import { i32, i32x4, type Local, ModuleBuilder, select, v128, type Value } from '../../encoder/index.ts';
import { codeOfTiles } from '../common/arguments.ts';
import { type Vector, WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import type { WasmCode, WasmTraits } from '../kernel.ts';
import { Cursor, type ItemRange, LANES } from './cursor.ts';
import { names, type RunForm } from './form.ts';
import { NodeCode } from './node-code.ts';
import { Words } from './words.ts';
import { FoldState, loadStates, STATE_BYTES } from './fold-states.ts';
import { ScanCode } from './scan-code.ts';

/** A module, and the names of the arguments that it reads, in their order. */
export interface EmittedRun {
  readonly code: WasmCode;
  readonly argNames: readonly string[];
}

/** The module of a form. */
export function emitRun(form: RunForm, { isShared, hasFma }: Pick<WasmTraits, 'isShared' | 'hasFma'>): EmittedRun {
  const module = new ModuleBuilder({ shared: isShared });
  let list: readonly string[] = [];
  const bytes = codeOfTiles(module, (body, args, firstTile, endTile, scratch) => {
    const words = new Words(body, args);
    const arithmetic = new WasmArithmetic(body, words, hasFma && canContract(form.kernel));
    const perTile = words.number(names.perTile);
    const items = words.number(names.items);
    const first = body.let(i32.mul(firstTile, perTile));
    const behind = body.let(i32.mul(endTile, perTile));
    const end = body.let(select(i32.ltU(behind, items), behind, items));
    const cursor = new Cursor(body, words, form, scratch, isShared);
    (form.kind === 'map' ? emitMap : emitRows)(arithmetic, cursor, { first, end });
    list = words.names;
  });
  return { code: { bytes }, argNames: list };
}

/** Computes each point by itself: an item is a line along the last axis, or a segment of one. */
export function emitMap(a: WasmArithmetic, cursor: Cursor, range: ItemRange): void {
  const { words, form } = cursor;
  const { kernel, stores, units } = form;
  const code = new NodeCode(a, cursor);
  const roots = storedNodes(kernel, stores);
  const last = vectorAxis(form);
  const outer = Array.from({ length: form.rowRank - 1 }, (_, axis) => axis);
  code.compute(roots, 0, 1);
  const inner = form.isSegmented ? words.number(names.segments) : undefined;
  cursor.items(outer, { ...range, isTransposed: form.isTransposed, inner }, (_, piece) => {
    code.enter(2);
    code.compute(roots, 2, 1);
    const { start, count } = cursor.segment(last, piece);
    cursor.blocks({ start, count, units }, (vectors) => {
      code.enter(3);
      code.compute(roots, 3, vectors);
      code.store(stores, vectors);
    });
  });
}

/** A part of the rows of an item, if rows are worked on in parts: it gives the place of its states. */
interface Part {
  readonly number: Local<'i32'>;
  /** The number of the row, or of the vector of rows. */
  readonly rows: Local<'i32'>;
}

/**
 * Folds rows, and stores the results. Vectors lie along the last folded axis, and an item is a row; or along the last
 * axis of rows, and an item is a segment of it. All passes that fold are done before anything is stored: an output may
 * share the memory of an input.
 */
export function emitRows(a: WasmArithmetic, cursor: Cursor, range: ItemRange): void {
  const { body, words, form } = cursor;
  const rows = new RowCode(a, cursor);
  rows.begin();
  const rowAxes = Array.from({ length: form.rowRank }, (_, axis) => axis);
  const hasParts = form.stage !== undefined;
  const parts = hasParts ? words.number(names.parts) : undefined;
  if (form.along === 'folded') {
    cursor.items(rowAxes, { ...range, inner: parts }, (row, number) => {
      rows.emit(1, number === undefined ? undefined : { number, rows: row });
    });
    return;
  }
  const segments = form.isSegmented ? words.number(names.segments) : undefined;
  const inner =
    parts === undefined || segments === undefined ? (parts ?? segments) : words.hoist(i32.mul(parts, segments));
  const last = vectorAxis(form);
  cursor.items(rowAxes.slice(0, -1), { ...range, inner }, (line, piece) => {
    let [segment, part] = [piece, undefined as Part | undefined];
    if (parts !== undefined && piece !== undefined) {
      segment = segments === undefined ? undefined : body.let(i32.divU(piece, parts));
      const number = segment === undefined ? piece : body.let(i32.sub(piece, i32.mul(segment, parts)));
      const vectors = segment === undefined ? line : i32.add(i32.mul(line, segments as Local<'i32'>), segment);
      part = { number, rows: body.let(vectors) };
    }
    const { start, count } = cursor.segment(last, segment);
    cursor.blocks({ start, count, units: form.units }, (units) => rows.emit(units, part));
  });
}

/** A walk along the rows at hand. */
interface Walk {
  /** Nodes that are wanted; those in front of the line, and for each block those of `innerRoots`. */
  readonly roots: readonly number[];
  readonly innerRoots?: readonly number[];
  readonly units: number;
  readonly rowUnits: number;
  readonly part: Part | undefined;
}

/** The passes over a row, or over the rows of some vectors. */
class RowCode {
  readonly #a: WasmArithmetic;
  readonly #cursor: Cursor;
  readonly #code: NodeCode;
  /** The folds of each phase; and of those that follow, the scans. */
  readonly #phases: readonly (readonly PhaseFold[])[];
  readonly #folded: number;

  constructor(a: WasmArithmetic, cursor: Cursor) {
    this.#a = a;
    this.#cursor = cursor;
    this.#code = new NodeCode(a, cursor);
    this.#phases = partFoldsOf(cursor.form.kernel);
    this.#folded = foldsOf(cursor.form.kernel).length;
  }

  /** Computes the values that all rows share. */
  begin(): void {
    const { kernel } = this.#cursor.form;
    const operands = this.#phases.flat().map(({ operand }) => operand);
    this.#code.compute([...operands, ...kernel.outputs.map(({ node }) => node)], 0, 1);
  }

  emit(units: number, part: Part | undefined): void {
    const { stage } = this.#cursor.form;
    this.#code.enter(1);
    // Without parts scans need no pass of their own.
    const last = stage === undefined ? this.#folded : Math.min(this.#phases.length, stage.phase + 1);
    for (let phase = 0; phase < last; phase++) {
      if (stage !== undefined && phase < stage.phase) {
        if (phase === this.#folded) break;
        const folds = this.#readStates(phase, units, part as Part);
        for (const fold of folds) this.#finish(fold, [fold.since(0)]);
        continue;
      }
      const folds = this.#fold(phase, units, part);
      if (stage !== undefined) {
        this.#writeStates(phase, folds, units, part as Part);
        return;
      }
      for (const fold of folds) this.#finish(fold, this.#joined(fold));
    }
    this.#store(units, part);
  }

  #finish(fold: FoldState, states: readonly (readonly Vector[])[]): void {
    this.#code.setFold(
      fold.fold.index,
      states.map((state) => fold.finish(state)),
    );
  }

  /** The states of the rows at hand: one, or one for each vector. */
  #joined(fold: FoldState): readonly (readonly Vector[])[] {
    return this.#cursor.form.along === 'folded' ? [fold.joinLanes()] : fold.states();
  }

  /** One pass: folds whose operands need none but those of earlier passes. */
  #fold(phase: number, units: number, part: Part | undefined): readonly FoldState[] {
    const { form } = this.#cursor;
    const isAcross = form.along === 'rows';
    const wide = isAcross ? units : form.units;
    const { isLong } = form;
    const phaseFolds = this.#phases[phase] as readonly PhaseFold[];
    const folds = phaseFolds.map((fold) => new FoldState(this.#a, this.#cursor, fold, { units: wide, isLong }));
    const roots = phaseFolds.map(({ operand }) => operand);
    this.#code.compute(roots, 1, units);
    this.#walk(
      { roots, units: wide, rowUnits: units, part },
      (vectors, first) => {
        const { lanes } = this.#cursor;
        const mask = isAcross || lanes.isWhole ? undefined : lanes.mask;
        for (let unit = 0; unit < vectors; unit++) {
          let known: Vector | undefined;
          const position = (): Vector => (known ??= this.#position(first, unit));
          for (const fold of folds) fold.add(unit, this.#code.value(fold.fold.operand, unit), position, mask);
        }
      },
      () => {
        if (isLong) for (const fold of folds) fold.flush();
      },
    );
    return folds;
  }

  /** Places in the row of the elements of a vector, on a line whose first element is at `first`. */
  #position(first: Value<'i32'>, unit: number): Vector {
    const { form, coordinates, lanes, body } = this.#cursor;
    const index = coordinates[form.rowRank + form.foldedRank - 1] as Local<'i32'>;
    const place = i32x4.splat(i32.add(first, index));
    const along = body.let(form.along === 'rows' ? place : i32x4.add(place, lanes.iota));
    const own =
      unit === 0 || form.along === 'rows' ? along : this.#a.add('u32', along, this.#a.constant('u32', unit * LANES));
    if (!form.isReverse) return own;
    const sizes = Array.from({ length: form.foldedRank }, (_, at) => this.#cursor.size(form.rowRank + at));
    const last = i32.sub(
      sizes.reduce<Value<'i32'>>((product, size) => i32.mul(product, size), i32.const(1)),
      1,
    );
    return body.let(i32x4.sub(i32x4.splat(last), own));
  }

  #store(units: number, part: Part | undefined): void {
    const { form, body } = this.#cursor;
    const [rows, elements] = [outputsOf(form.kernel, 'row'), outputsOf(form.kernel, 'element')];
    this.#code.compute(storedNodes(form.kernel, [...elements, ...rows]), 1, units);
    if (elements.length > 0) {
      const roots = storedNodes(form.kernel, elements);
      const wide = form.along === 'rows' ? units : form.units;
      if (scansOf(form.kernel) === undefined) {
        this.#walk({ roots, units: wide, rowUnits: units, part }, (vectors) => this.#code.store(elements, vectors));
      } else this.#scan(elements, roots, { units: wide, rowUnits: units, part });
    }
    if (rows.length === 0) return;
    const store = (): void => this.#code.store(rows, units);
    if (part === undefined) store();
    else body.if(i32.eqz(part.number), store);
  }

  /** Stores elements, and what scans give them. */
  #scan(elements: readonly number[], roots: readonly number[], places: Omit<Walk, 'roots'>): void {
    const { isLong } = this.#cursor.form;
    const { units, part } = places;
    const folds =
      part === undefined
        ? (this.#phases[this.#folded] as readonly PhaseFold[]).map(
            (fold) => new FoldState(this.#a, this.#cursor, fold, { units, isLong }),
          )
        : this.#readStates(this.#folded, units, part);
    const scan = new ScanCode(this.#a, this.#cursor, this.#code, folds);
    this.#walk(
      { ...places, roots: [...roots, ...scan.operands], innerRoots: scan.operands },
      (vectors) => {
        scan.add(vectors);
        this.#code.compute(roots, 3, vectors);
        this.#code.store(elements, vectors);
      },
      () => scan.flush(),
    );
  }

  /**
   * Goes through the elements of the rows at hand, or of a part of them.
   *
   * @param each - gets the vectors side by side, and the place of the line's first element in the row
   * @param behindLine - emits the code after each line, or segment of a line
   */
  #walk(
    { roots, innerRoots = roots, units, rowUnits, part }: Walk,
    each: (units: number, first: Value<'i32'>) => void,
    behindLine: () => void = () => {},
  ): void {
    const cursor = this.#cursor;
    const code = this.#code;
    const { body, words, form } = cursor;
    const axes = Array.from({ length: form.foldedRank - 1 }, (_, at) => form.rowRank + at);
    const last = form.rowRank + form.foldedRank - 1;
    const inner = form.isFoldedSegmented ? words.number(names.foldedSegments) : undefined;
    const all = words.number(names.foldedItems);
    const first = part === undefined ? 0 : body.let(i32.mul(part.number, words.number(names.perPart)));
    const behind = part === undefined ? all : body.let(i32.add(first as Local<'i32'>, words.number(names.perPart)));
    const end = part === undefined ? all : body.let(select(i32.ltU(behind, all), behind, all));
    cursor.items(axes, { first, end, inner }, (line, piece) => {
      code.enter(2);
      code.compute(roots, 2, rowUnits);
      const { start, count } = cursor.segment(last, piece, names.foldedSegment);
      const place = body.let(i32.mul(line, cursor.size(last)));
      if (form.along === 'folded') {
        cursor.blocks({ start, count, units }, (vectors) => {
          code.enter(3);
          code.compute(innerRoots, 3, vectors);
          each(vectors, place);
        });
      } else {
        cursor.points(last, start, count, () => {
          code.enter(3);
          code.compute(innerRoots, 3, units);
          each(units, place);
        });
      }
      behindLine();
    });
    code.endPass();
  }

  /** The address of the states of a part. */
  #statesAt(phase: number, words: number, { rows }: Part, part: Value<'i32'>): Value<'i32'> {
    const own = this.#cursor.words;
    const number = i32.add(i32.mul(rows, own.number(names.parts)), part);
    return i32.add(own.number(names.states(phase)), i32.mul(number, words * STATE_BYTES));
  }

  #writeStates(phase: number, folds: readonly FoldState[], units: number, part: Part): void {
    const { body } = this.#cursor;
    if (units !== 1) throw new Error('rows in parts have one vector at a time');
    const words = folds.reduce((sum, { parts }) => sum + parts, 0);
    const address = body.let(this.#statesAt(phase, words, part, part.number));
    folds
      .flatMap((fold) => this.#joined(fold)[0] as readonly Vector[])
      .forEach((value, at) => body.emit(v128.store(address, value, at * STATE_BYTES)));
  }

  /** The joined states of parts: of all, or for scans of those before this one. */
  #readStates(phase: number, units: number, part: Part): readonly FoldState[] {
    const { body, words, form } = this.#cursor;
    if (units !== 1) throw new Error('rows in parts have one vector at a time');
    const isScan = phase === this.#folded;
    const folds = (this.#phases[phase] as readonly PhaseFold[]).map(
      (fold) => new FoldState(this.#a, this.#cursor, fold, { units: 1, isLong: isScan && form.isLong }),
    );
    const bytes = folds.reduce((sum, { parts }) => sum + parts, 0) * STATE_BYTES;
    const address = body.let(this.#statesAt(phase, bytes / STATE_BYTES, part, i32.const(0)));
    body.for(0, isScan ? part.number : words.number(names.parts), 1, () => {
      loadStates(this.#a, folds, address).forEach((state, at) => (folds[at] as FoldState).join(0, state));
      body.increase(address, bytes);
    });
    return folds;
  }
}
