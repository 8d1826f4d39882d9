import { BackendError, type ExplainedPass, type Explanation } from '@concord/backend-core';
import { freeScalars, type Operand, type ResolvedCall } from '@concord/backend-core/implement';
import type { VariantChooser, VariantPick } from './variant-choice.ts';

/** A piece of the memory of an op. */
export interface Place {
  /** The index of the memory: the operands in their order, then the scratch memory. */
  readonly memory: number;
  /** Bytes from its start; negative where a binding has to begin before an operand. */
  readonly byteOffset: number;
  readonly byteLength: number;
}

/** The memory at a place. */
export function spanAt<Buffer>(
  memory: readonly Operand<Buffer>[],
  { memory: index, byteOffset, byteLength }: Place,
): Operand<Buffer> {
  const { buffer, byteOffset: start } = memory[index] as Operand<Buffer>;
  return { buffer, byteOffset: start + byteOffset, byteLength };
}

/** A launch of a kernel in a plan. */
export interface PlannedLaunch<Kernel> {
  readonly kernel: Kernel;
  /** Id of the variant that it does the work of, if any. */
  readonly variant?: string | undefined;
}

/** A copy in a plan. */
export interface PlannedCopy {
  readonly dst: Place;
  readonly src: Place;
}

/** The launches and copies of an op: for one call, and for every other whose operands lie as those of that one do. */
export interface LaunchPlan<Kernel = unknown, Step extends PlannedLaunch<Kernel> = PlannedLaunch<Kernel>> {
  readonly steps: readonly (Step | PlannedCopy)[];
  /** Bytes of each piece of scratch memory. */
  readonly scratch: readonly number[];
  /** The choices between variants that it was made with, one for each piece of the call. */
  readonly picks: readonly VariantPick[];
}

/** The kernels of a plan, each once. */
export function kernelsOf<Kernel>({ steps }: LaunchPlan<Kernel>): ReadonlySet<Kernel> {
  return new Set(steps.flatMap((step) => ('kernel' in step ? [step.kernel] : [])));
}

/** A plan for people: launches of one kernel that follow each other are one pass, which `passOf` tells of. */
export function explainPasses<Kernel, Step extends PlannedLaunch<Kernel>>(
  { steps }: LaunchPlan<Kernel, Step>,
  passOf: (launches: readonly Step[]) => ExplainedPass,
): Explanation {
  const runs: Step[][] = [];
  for (const step of steps) {
    if (!('kernel' in step)) continue;
    const last = runs.at(-1);
    if (last?.[0]?.kernel === step.kernel) last.push(step);
    else runs.push([step]);
  }
  return { passes: runs.map(passOf) };
}

/** Notes what a plan launches and copies; a backend adds how it launches. */
export abstract class StepRecorder<Buffer, Step> implements VariantChooser {
  abstract readonly traits: VariantChooser['traits'];
  readonly steps: (Step | PlannedCopy)[] = [];
  readonly picks: VariantPick[] = [];
  /** Bytes of each piece of scratch memory. */
  readonly scratchBytes: number[] = [];
  readonly #memory: Operand<Buffer>[];
  readonly #fakeOperand: (byteLength: number) => Operand<Buffer>;
  readonly #scalars: ReturnType<typeof freeScalars>;

  /** @param fakeOperand - a span that stands for a separate allocation */
  constructor(
    op: ResolvedCall<Buffer>,
    operands: readonly Operand<Buffer>[],
    fakeOperand: (byteLength: number) => Operand<Buffer>,
  ) {
    this.#scalars = freeScalars(op);
    this.#memory = [...operands];
    this.#fakeOperand = fakeOperand;
  }

  /** The number of scalars of the call. */
  get scalarCount(): number {
    return Object.keys(this.#scalars).length;
  }

  /** Bytes of the largest piece of memory that the device has. */
  protected abstract get maxBytes(): number;

  notePick(pick: VariantPick): void {
    this.picks.push(pick);
  }

  copy(dst: Operand<Buffer>, src: Operand<Buffer>): void {
    this.add({ dst: this.placeOf(dst), src: this.placeOf(src) });
  }

  /** @throws {BackendError} OUT_OF_MEMORY beyond the device's largest piece */
  scratch(bytes: number): Operand<Buffer> {
    const max = this.maxBytes;
    if (bytes > max) {
      throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest allocation, ${max}`, {
        requestedBytes: bytes,
        limitBytes: max,
      });
    }
    const span = this.#fakeOperand(bytes);
    this.#memory.push(span);
    this.scratchBytes.push(bytes);
    return span;
  }

  /** @throws {BackendError} UNSUPPORTED when there are too many */
  protected add(step: Step | PlannedCopy): void {
    checkSteps(this.steps.push(step));
  }

  /**
   * Returns the parameter of a launch that a kernel gets by a name, counted from their end: a scalar of the call that
   * has this value. Factors that a plan makes up are 0 and 1, which no such scalar is.
   */
  protected scalarAt(name: string, value: unknown): number | undefined {
    const scalar = this.#scalars[name];
    return scalar !== undefined && scalar.value === value ? scalar.at : undefined;
  }

  protected placeOf({ buffer, byteOffset, byteLength }: Operand<Buffer>): Place {
    const memory = this.#memory.findIndex((span) => span.buffer === buffer);
    return { memory, byteOffset: byteOffset - (this.#memory[memory] as Operand<Buffer>).byteOffset, byteLength };
  }
}

/** The launches and copies of a plan: more are a size that somebody got wrong, and would fill the memory of the host. */
const MAX_STEPS = 65_536;

/**
 * Checks the number of steps of a plan, before or while they are listed.
 *
 * @throws {BackendError} UNSUPPORTED
 */
export function checkSteps(count: number): void {
  if (count <= MAX_STEPS) return;
  throw new BackendError('UNSUPPORTED', `the call takes more than ${MAX_STEPS} launches and copies on this device`);
}
