import type { DType } from '@concord/backend-core';
import type { Feature, KernelCall, KernelName, ResolvedCall } from '@concord/backend-core/implement';
import { type NamedVariant, pickVariant, type VariantChooser, type VariantQuestion } from './variant-choice.ts';

/** The facts about a device that planning needs, as a recorder has them. */
type TraitsOf<Recorder extends VariantChooser> = Recorder['traits'];

/** Kernels of one kind, and their variants, if there is a choice between them. */
export interface KernelTable<Traits, Kernel> {
  /** Every variant, of which each device and shape has some; empty where there is nothing to choose. */
  readonly ids: readonly string[];
  /** Every kernel that such a device may need. */
  kernelsFor(traits: Traits): readonly Kernel[];
}

/** The variants that a table offers for a shape. */
export interface Candidates<Variant extends NamedVariant> {
  /** The variants; not empty. */
  readonly variants: readonly Variant[];
  /** The best known of them. */
  readonly preferred: Variant;
  /** Beside the offers of other tables: the highest goes first. Default: 0. */
  readonly rank?: number;
  /** The requirements of the table beyond sizes, for the shape class: shapes that meet them are a separate class. */
  readonly condition?: string;
}

/**
 * Kernels of one kind between whose variants there is a choice: all that a backend knows of them.
 *
 * @typeParam Shape - the facts that decide which variant is chosen
 * @typeParam Work - what is launched: a shape with its operands
 */
export interface VariantTable<
  Shape,
  Work,
  Recorder extends VariantChooser,
  Kernel,
  Variant extends NamedVariant = NamedVariant,
> extends KernelTable<TraitsOf<Recorder>, Kernel> {
  /** Returns the variants for a shape on a device; undefined if there are none. */
  candidates(shape: Shape, traits: TraitsOf<Recorder>): Candidates<Variant> | undefined;
  /** Launches the kernel of one of its variants. */
  launch(work: Work, variant: Variant, recorder: Recorder): void;
}

/** Tables that compute the same: together they offer, and each launches its own. */
export class VariantTables<
  Shape,
  Work,
  Recorder extends VariantChooser,
  Kernel,
  Variant extends NamedVariant = NamedVariant,
  Table extends VariantTable<Shape, Work, Recorder, Kernel, Variant> = VariantTable<
    Shape,
    Work,
    Recorder,
    Kernel,
    Variant
  >,
> implements KernelTable<TraitsOf<Recorder>, Kernel> {
  readonly #tables: readonly Table[];
  readonly #classOf: (shape: Shape, traits: TraitsOf<Recorder>) => string;
  readonly #tableOf: ReadonlyMap<string, Table>;

  /**
   * @param tables - of equal rank, the first goes first
   * @param classOf - shapes of one class are served best by the same variant
   */
  constructor(tables: readonly Table[], classOf: (shape: Shape, traits: TraitsOf<Recorder>) => string) {
    this.#tables = tables;
    this.#classOf = classOf;
    this.#tableOf = new Map(tables.flatMap((table) => table.ids.map((id) => [id, table] as const)));
  }

  get ids(): readonly string[] {
    return this.#tables.flatMap(({ ids }) => ids);
  }

  kernelsFor(traits: TraitsOf<Recorder>): readonly Kernel[] {
    return this.#tables.flatMap((table) => table.kernelsFor(traits));
  }

  /** The variants for a shape, and the best known. */
  question(shape: Shape, traits: TraitsOf<Recorder>): VariantQuestion<Variant> {
    const offers: Candidates<Variant>[] = [];
    for (const table of this.#tables) {
      const offer = table.candidates(shape, traits);
      if (offer !== undefined) offers.push(offer);
    }
    offers.sort((a, b) => (b.rank ?? 0) - (a.rank ?? 0));
    const [best] = offers;
    if (best === undefined) throw new RangeError(`there is no variant for ${this.#classOf(shape, traits)}`);
    const conditions = offers.flatMap(({ condition }) => condition ?? []);
    return {
      shapeClass: () => [this.#classOf(shape, traits), ...conditions].join(' '),
      candidates: offers.flatMap(({ variants }) => variants),
      preferred: best.preferred,
    };
  }

  /** The variant for a shape, by the preferences of the device. */
  choose(shape: Shape, recorder: Recorder): Variant {
    return pickVariant(recorder, this.question(shape, recorder.traits));
  }

  /** The table that a variant is of. */
  tableOf({ id }: NamedVariant): Table {
    const table = this.#tableOf.get(id);
    if (table === undefined) throw new RangeError(`there is no variant ${id}`);
    return table;
  }

  launch(work: Work, variant: Variant, recorder: Recorder): void {
    this.tableOf(variant).launch(work, variant, recorder);
  }
}

/**
 * The data of a variant of a table.
 *
 * @throws {RangeError} for a variant of another table
 */
export function shapeOf<Shape>(shapes: ReadonlyMap<string, Shape>, { id }: NamedVariant): Shape {
  const shape = shapes.get(id);
  if (shape === undefined) throw new RangeError(`${id} is not one of ${[...shapes.keys()].join(', ')}`);
  return shape;
}

/** A call that is planned in the place of others, and what their launches are told beside the plan. */
export interface Canonical<Call> {
  readonly call: Call;
  /** The parameters of the call that it stands for. */
  readonly params: readonly number[];
}

/** A family of kernels: all that a backend knows of one of the contract's primitives. */
export interface Family<Name extends KernelName, Buffer, Recorder extends VariantChooser, Kernel> {
  readonly kernel: Name;
  /** Element types that it takes. */
  readonly dtypes: readonly DType[];
  /** Features beyond those that every kernel of this name has. */
  readonly features?: readonly Feature<Name>[];
  /** The call that is planned in the place of one and of others like it; undefined for one that is planned as it is. */
  canonical?(
    call: Extract<KernelCall, { kernel: Name }>['call'],
    traits: TraitsOf<Recorder>,
  ): Canonical<Extract<KernelCall, { kernel: Name }>['call']> | undefined;
  /**
   * Plans a checked call with its operands.
   *
   * @throws {BackendError} UNSUPPORTED when the device cannot run it, OUT_OF_MEMORY when its scratch memory is too large
   */
  plan(call: Extract<ResolvedCall<Buffer>, { kernel: Name }>['call'], recorder: Recorder): void;
  /** The tables of variants, and the kernels beside them. */
  readonly tables: readonly KernelTable<TraitsOf<Recorder>, Kernel>[];
}

/** The families of a backend, by the kernel that each is of. */
export type Families<Buffer, Recorder extends VariantChooser, Kernel> = {
  readonly [Name in KernelName]?: Family<Name, Buffer, Recorder, Kernel>;
};

/** A family of any kernel, for what treats them all alike. */
export type AnyFamily<Recorder extends VariantChooser, Kernel> = Omit<
  Family<KernelName, unknown, Recorder, Kernel>,
  'canonical' | 'plan'
> & {
  canonical?(call: unknown, traits: TraitsOf<Recorder>): Canonical<KernelCall['call']> | undefined;
  plan(call: unknown, recorder: Recorder): void;
};

/** The families of a record, as a list. */
export function familiesOf<Buffer, Recorder extends VariantChooser, Kernel>(
  families: Families<Buffer, Recorder, Kernel>,
): readonly AnyFamily<Recorder, Kernel>[] {
  return Object.values(families);
}

/** The ids of every variant of every family. */
export function idsOf<Buffer, Recorder extends VariantChooser, Kernel>(
  families: Families<Buffer, Recorder, Kernel>,
): readonly string[] {
  return familiesOf(families).flatMap(({ tables }) => tables.flatMap(({ ids }) => ids));
}

/** Every kernel of every family that such a device may need. */
export function kernelsFor<Buffer, Recorder extends VariantChooser, Kernel>(
  families: Families<Buffer, Recorder, Kernel>,
  traits: TraitsOf<Recorder>,
): readonly Kernel[] {
  return familiesOf(families).flatMap(({ tables }) => tables.flatMap((table) => table.kernelsFor(traits)));
}

/** Plans a call with its operands by its family. Errors as those of {@link Family.plan}. */
export function planCall<Buffer, Recorder extends VariantChooser, Kernel>(
  families: Families<Buffer, Recorder, Kernel>,
  { kernel, call }: ResolvedCall<Buffer>,
  recorder: Recorder,
): void {
  (families[kernel] as AnyFamily<Recorder, Kernel> | undefined)?.plan(call, recorder);
}

/** The words of a text, apart by spaces. */
export type NamesIn<Text extends string> = Text extends `${infer Name} ${infer Rest}` ? Name | NamesIn<Rest> : Text;

/** Uniforms or parameters of one type, in this order: `ofType('u32', 'm n k')`. */
export function ofType<const Type extends string, Names extends string>(
  type: Type,
  names: Names,
): Readonly<Record<NamesIn<Names>, Type>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type])) as Record<NamesIn<Names>, Type>;
}
