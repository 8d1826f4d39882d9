import type { ComputeBackend, DevicePtr, OpName } from '@concord/backend-core';
import {
  type CaseContext,
  CaseFailure,
  type ConformanceCase,
  formatParams,
  type Params,
  UnsupportedCall,
} from '../harness/case.ts';
import type { PlanCall, PlannedCall } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { compareImage, type Image, placeSlots, Slots } from '../harness/workspace.ts';
import { expectUnsupported } from '../run/plan.ts';

const WHERE: Readonly<Record<Residence, string>> = {
  own: 'in their own memory',
  pooled: 'at other offsets of the same memory',
  same: 'on the same pointers',
};

/**
 * The calls of which each differs from `base` in one field: base, changed, base, changed and so on, so that each change
 * is met in both directions. What a cache of plans, pipelines or bindings must tell apart.
 */
export function pairCases<P extends Params>(
  subject: SequenceSubject<P>,
  name: string,
  base: Partial<P>,
  changes: readonly Partial<P>[],
): ConformanceCase[] {
  const entries: SequenceEntry<P>[] = [
    { params: base },
    ...changes.flatMap((change) => [{ params: { ...base, ...change } }, { params: base }]),
  ];
  return (Object.keys(WHERE) as Residence[]).map((residence) =>
    sequenceCase(subject, `${name}: calls that differ in one field, ${WHERE[residence]}`, residence, () => entries),
  );
}

/** The alignment of the bases of allocations. */
const ALIGNMENT = 256;
/** No vector of a kernel is longer: within these, one operand alone is moved. */
const LONGEST_VECTOR = 32;

/** The subject of {@link offsetCases}. */
interface OffsetsOf<P extends Params> {
  readonly name: string;
  /** Each is called at all offsets. */
  readonly shapes: readonly Partial<P>[];
  readonly operands: number;
  /** Bytes of an element. */
  readonly size: number;
}

/** Each operand at each offset modulo 256 that its elements allow, in one case: all moved at once, and each of them alone. */
export function offsetCases<P extends Params>(subject: SequenceSubject<P>, of: OffsetsOf<P>): ConformanceCase {
  const { name, shapes, operands, size } = of;
  return sequenceCase(subject, `${name}: every operand at every offset`, 'pooled', ({ random }) =>
    shapes.flatMap((params): SequenceEntry<P>[] => residuesOf(random, operands, size, params)),
  );
}

function residuesOf<P extends Params>(
  random: Random,
  operands: number,
  size: number,
  params: Partial<P>,
): SequenceEntry<P>[] {
  const count = ALIGNMENT / size;
  const orders = Array.from({ length: operands }, () => random.permutation(count));
  const together = Array.from({ length: count }, (_, i) => orders.map((order) => (order[i] as number) * size));
  const steps = Array.from({ length: LONGEST_VECTOR / size - 1 }, (_, i) => (i + 1) * size);
  const alone = orders.flatMap((_, moved) =>
    [...steps, 64, 128].map((step) => orders.map((_own, operand) => (operand === moved ? step : 0))),
  );
  return [...together, ...alone].map((residues) => ({ params, residues }));
}

/** The names and plans of a sequence for the calls of an op. */
export interface SequenceSubject<P extends Params> {
  readonly op: OpName;
  readonly defaults: P;
  readonly plan: PlanCall<P>;
}

/** One call of a sequence: what differs from the defaults, and where its pointers are modulo 256. */
export interface SequenceEntry<P extends Params> {
  readonly params: Partial<P>;
  readonly residues?: readonly number[];
}

/** A case that makes many calls one after the other, and judges all of them at the end. */
export function sequenceCase<P extends Params>(
  subject: SequenceSubject<P>,
  what: string,
  residence: Residence,
  entriesOf: (context: CaseContext) => readonly SequenceEntry<P>[],
): ConformanceCase {
  const { op, defaults, plan } = subject;
  return {
    id: `${op}/sequence/${what}`,
    op,
    params: {},
    // Of the op alone; each call is asked for by itself.
    needs: { op, dtype: op === 'gemmF16' ? 'f16' : 'f32' },
    run: (context) => {
      const calls = entriesOf(context).map(({ params, residues }): SequenceCall => {
        const whole: P = { ...defaults, ...params };
        const at = residues === undefined ? '' : `, pointers at ${residues.join(', ')} mod 256`;
        return {
          text: `${formatParams(whole, defaults)}${at}`,
          plan: (slots) => plan(slots, context, whole),
          ...(residues === undefined ? {} : { residues }),
        };
      });
      return checkCalls(context, calls, residence);
    },
  };
}

/**
 * The memory of a sequence's operands. `own`: each in its own allocation. `pooled`: all that is only read in one
 * allocation, all that is written in another. `same`: each call has its operands where those of the call before were.
 */
type Residence = 'own' | 'pooled' | 'same';

/** One call of a sequence. */
interface SequenceCall {
  /** The arguments of the call, for a message. */
  readonly text: string;
  /** Makes its operands. */
  readonly plan: (slots: Slots) => PlannedCall;
  /** The residues of its pointers modulo 256, in the order in which its operands are made. */
  readonly residues?: readonly number[];
}

interface Prepared {
  readonly title: string;
  readonly slots: Slots;
  readonly planned: PlannedCall;
}

/**
 * Makes calls one after the other without a wait, and judges their results at the end.
 *
 * @throws {CaseFailure} that names the first call which is wrong, and how many are
 * @throws {UnsupportedCall} where the backend has none of them, and stands by it
 */
async function checkCalls(
  { backend }: Pick<CaseContext, 'backend'>,
  calls: readonly SequenceCall[],
  residence: Residence,
): Promise<void> {
  const supported: Prepared[] = [];
  let refused: UnsupportedCall | undefined;
  for (const [index, call] of calls.entries()) {
    const prepared = prepare(call, `call ${index + 1} of ${calls.length} (${call.text})`);
    const refusal = refusalOf(backend, prepared);
    if (refusal === undefined) supported.push(prepared);
    else refused = refusal;
  }
  if (supported.length === 0 && refused !== undefined) throw refused;
  await (residence === 'same' ? runInOnePlace(backend, supported) : runInSeparatePlaces(backend, supported, residence));
  judgeAll(supported, residence);
}

function prepare({ plan, residues = [] }: SequenceCall, title: string): Prepared {
  const slots = new Slots();
  const planned = plan(slots);
  for (const [index, slot] of slots.all.entries()) slot.residue = residues[index];
  for (const slot of slots.all) slot.name = `${slot.name} of ${title}`;
  return { title, slots, planned };
}

/** Why the backend does not take a call; undefined where it does. */
function refusalOf(backend: ComputeBackend, { title, planned }: Prepared): UnsupportedCall | undefined {
  const support = backend.supports(planned.op, planned.shape);
  if (support.ok) return undefined;
  try {
    return expectUnsupported(title, support.reason, () => planned.call());
  } catch (error) {
    if (error instanceof UnsupportedCall) return error;
    throw error;
  }
}

/** All operands are on the device before the first call, and read after the last. */
async function runInSeparatePlaces(
  backend: ComputeBackend,
  calls: readonly Prepared[],
  residence: Residence,
): Promise<void> {
  const slots = calls.flatMap((call) => call.slots.all);
  const groups =
    residence === 'own'
      ? slots.map((slot) => [slot])
      : [false, true].map((wanted) => slots.filter(({ isOutput }) => isOutput === wanted));
  const placed: { readonly image: Image; readonly base: DevicePtr }[] = [];
  try {
    for (const group of groups) {
      const image = placeSlots(group);
      const base = backend.alloc(image.bytes.length, { label: 'conformance' });
      placed.push({ image, base });
      image.moveTo(base);
      backend.copyHtod(base, image.bytes);
    }
    for (const { planned } of calls) planned.call();
    await readAll(backend, placed);
  } finally {
    for (const { base } of placed) backend.free(base);
  }
}

/** The operands of each call are copied to where the call before had them, and away when it has been made. */
async function runInOnePlace(backend: ComputeBackend, calls: readonly Prepared[]): Promise<void> {
  const images = calls.map(({ slots }) => slots.all.map((slot) => placeSlots([slot])));
  const places: DevicePtr[] = [];
  const stores: { readonly image: Image; readonly base: DevicePtr }[][] = [];
  try {
    for (const own of images) {
      stores.push([]);
      for (const image of own) {
        const base = backend.alloc(image.bytes.length);
        stores.at(-1)?.push({ image, base });
        backend.copyHtod(base, image.bytes);
      }
    }
    const max = Math.max(...images.map((own) => own.length));
    for (let at = 0; at < max; at++) {
      places.push(backend.alloc(Math.max(...images.map((own) => own[at]?.bytes.length ?? 0))));
    }
    for (const [index, { planned }] of calls.entries()) {
      const own = stores[index] ?? [];
      for (const [at, { image, base }] of own.entries()) {
        const place = places[at] as DevicePtr;
        backend.copyDtod(place, base, image.bytes.length);
        image.moveTo(place);
      }
      planned.call();
      for (const [at, { image, base }] of own.entries()) {
        backend.copyDtod(base, places[at] as DevicePtr, image.bytes.length);
      }
    }
    await readAll(backend, stores.flat());
  } finally {
    for (const ptr of [...places, ...stores.flat().map(({ base }) => base)]) backend.free(ptr);
  }
}

async function readAll(
  backend: ComputeBackend,
  placed: readonly { readonly image: Image; readonly base: DevicePtr }[],
): Promise<void> {
  const reads = placed.map(async ({ image, base }) => {
    const after = new Uint8Array(image.bytes.length);
    await backend.copyDtoh(after, base);
    return after;
  });
  const results = await Promise.all(reads);
  for (const [index, { image }] of placed.entries()) compareImage(image, results[index] as Uint8Array);
}

function judgeAll(calls: readonly Prepared[], residence: Residence): void {
  let first: { readonly title: string; readonly failure: CaseFailure } | undefined;
  let wrong = 0;
  for (const { title, planned } of calls) {
    try {
      planned.judge();
    } catch (error) {
      if (!(error instanceof CaseFailure)) throw error;
      first ??= { title, failure: error };
      wrong++;
    }
  }
  if (first === undefined) return;
  const { title, failure } = first;
  throw new CaseFailure(
    `${title}, operands ${residence}: ${failure.message}; ${wrong} of ${calls.length} calls are wrong`,
    failure.mismatch,
  );
}
