import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import { type CaseContext, CaseFailure, UnsupportedCall } from '../harness/case.ts';
import { compareImage, type Image, placeSlots } from '../harness/image.ts';
import type { PlannedCall } from '../harness/planned-call.ts';
import { Slots } from '../harness/slot.ts';
import { tellOperands } from '../harness/workspace.ts';
import { expectUnsupported } from '../run/check-plan.ts';

/**
 * Where the operands of a sequence lie. `own`: each in its own allocation. `pooled`: all that is only read in one
 * allocation, all that is written in another. `same`: each call has its operands where those of the call before were.
 */
export type Residence = 'own' | 'pooled' | 'same';

/** One call of a sequence. */
export interface SequenceCall {
  /** The arguments of the call, for a message. */
  readonly text: string;
  /** Makes its operands. */
  readonly plan: (slots: Slots) => PlannedCall;
  /** Where its pointers are to be modulo 256, in the order in which its operands are made. */
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
export async function checkCalls(
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
  await (residence === 'same' ? runInOnePlace(backend, supported) : runApart(backend, supported, residence));
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
async function runApart(backend: ComputeBackend, calls: readonly Prepared[], residence: Residence): Promise<void> {
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
    for (const { slots: own, planned } of calls) {
      tellOperands(backend, own.all);
      planned.call();
    }
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
    for (const [index, { planned, slots }] of calls.entries()) {
      const own = stores[index] ?? [];
      for (const [at, { image, base }] of own.entries()) {
        const place = places[at] as DevicePtr;
        backend.copyDtod(place, base, image.bytes.length);
        image.moveTo(place);
      }
      tellOperands(backend, slots.all);
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
