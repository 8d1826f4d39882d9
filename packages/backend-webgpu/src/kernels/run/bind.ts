import { BYTES_OF } from '@concord/backend-core/implement';
import { accessOf, type Access, madeOnce } from '@concord/kernel';
import { bindable, slice, toScratch } from '../operands.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import { type Piece, type PieceOperand, reachOf } from './piece.ts';
import { type BindingSpec, elementFor, type OperandSpec } from './run-spec.ts';

/** Storage bindings that every device has. */
const MAX_BINDINGS = 8;

/** Elements that addresses of 32 bits reach. */
const MAX_ADDRESSES = 2 ** 32;

/** The operands of a piece as they are bound. */
export interface BoundPiece {
  readonly bindings: readonly BindingSpec[];
  /** The range of each binding. */
  readonly spans: readonly Span[];
  readonly operands: readonly OperandSpec[];
  /** Elements from the start of the binding to each operand's first element. */
  readonly offsets: readonly number[];
}

/** The layout of vectors in the domain. */
export interface VectorLayout {
  readonly width: 1 | 4;
  readonly axis: number;
  /** Gather inputs whose last index runs along the vectors. */
  readonly gathersVectors: ReadonlySet<number>;
  /** Inputs that are transposed in workgroup memory, and the axis that they lie along. */
  readonly transposed?: { readonly axis: number; readonly inputs: ReadonlySet<number> };
}

interface Placed {
  readonly index: number;
  readonly operand: PieceOperand;
  readonly span: Span;
}

/** Bindings that operands in one buffer share. */
interface Group {
  readonly members: readonly Placed[];
  readonly isWritten: boolean;
  /** The range to copy for it; its member is placed in the copy. */
  readonly copied?: Span;
}

/**
 * Binds the operands of a piece: each input once; what lies in an output's buffer together with it, over their hull.
 * Undefined where something does not fit a binding: then the piece has to be cut.
 *
 * @param memory - each operand's memory
 */
export function bindPiece(
  piece: Piece,
  memory: readonly (Span | undefined)[],
  layout: VectorLayout,
  traits: DeviceTraits,
  scratch: PlanScratch,
): BoundPiece | undefined {
  const placed = piece.operands.map((operand, index): Placed => {
    const bytes = BYTES_OF[operand.layout.dtype];
    const { first, extent } = reachOf(piece, operand);
    const whole = memory[index];
    const span = whole === undefined ? scratch.nothing : slice(whole, first * bytes, extent * bytes);
    return { index, operand, span };
  });
  const groups = groupsOf(placed, traits);
  if (groups === undefined) return undefined;

  const bindings: BindingSpec[] = [];
  const spans: (() => Span)[] = [];
  const operands: OperandSpec[] = [];
  const offsets: number[] = [];
  let free = MAX_BINDINGS - groups.length - (piece.geometry.kernel.hasRows ? 1 : 0);
  for (const { members, isWritten, copied } of groups) {
    const { span, byteOffset } = bindable(hullOf(members), traits.storageAlignment);
    const windows = windowsOf(span, traits);
    const isFar = windows.length > 1;
    if (isFar && !isFarGather(members)) return undefined;
    if (members.some(({ operand }) => operand.layout.extent > MAX_ADDRESSES && isFar)) return undefined;
    free -= windows.length - 1;
    if (free < 0) return undefined;
    const start = members.reduce((min, member) => Math.min(min, member.span.byteOffset), Infinity) - byteOffset;
    const accesses = members.map((member) => {
      const { dtype } = member.operand.layout;
      const offset = (member.span.byteOffset - start) / BYTES_OF[dtype];
      offsets[member.index] = offset;
      return isFar ? 'strided' : accessIn(member, offset, layout);
    });
    const elements = members.map(({ operand }, at) =>
      elementFor(operand.layout, accesses[at] as Access, operand.isOutput),
    );
    const agree = new Set(elements.map((element) => (element === 'atomic' ? 'word' : element))).size === 1;
    for (const [at, { index, operand }] of members.entries()) {
      const { type, dtype, access: level } = operand.layout;
      const access = accesses[at] === 'vector' && !agree ? 'dense' : (accesses[at] as Access);
      const { transposed } = layout;
      const axis = transposed?.inputs.has(index) === true ? { axis: transposed.axis } : {};
      const far = isFar ? { far: { count: windows.length, words: windowBytes(traits) / 4 } } : {};
      operands[index] = { type, dtype, level, access, binding: bindings.length, ...axis, ...far };
    }
    const own = members.map(({ index, operand }) =>
      elementFor(operand.layout, (operands[index] as OperandSpec).access, operand.isOutput),
    );
    const element = own.includes('atomic') ? 'atomic' : (own[0] as BindingSpec['element']);
    for (const window of windows) {
      bindings.push({ element, isWritten });
      spans.push(() => (copied === undefined ? window : inCopyOf(copied, window, scratch)));
    }
  }
  // Nothing is copied for a piece that does not fit.
  return { bindings, spans: spans.map((span) => span()), operands, offsets };
}

function inCopyOf(source: Span, { byteOffset, byteLength }: Span, scratch: PlanScratch): Span {
  const copy = scratch.copyOf(source);
  return { buffer: copy.buffer, byteOffset: copy.byteOffset - (source.byteOffset % 4) + byteOffset, byteLength };
}

/**
 * Returns whether members may take several bindings: only what is read at any place; a piece of the others can be made
 * smaller.
 */
function isFarGather(members: readonly Placed[]): boolean {
  return members.length === 1 && members[0]?.operand.layout.access === 'gather' && !members[0].operand.isOutput;
}

function windowBytes({ maxBindingBytes, storageAlignment }: DeviceTraits): number {
  return Math.floor(maxBindingBytes / storageAlignment) * storageAlignment;
}

/** The memory in as many pieces as it takes for each to fit a binding. */
function windowsOf(span: Span, traits: DeviceTraits): readonly Span[] {
  if (span.byteLength <= traits.maxBindingBytes) return [span];
  const max = windowBytes(traits);
  return Array.from({ length: Math.ceil(span.byteLength / max) }, (_, k) => ({
    ...span,
    byteOffset: span.byteOffset + k * max,
    byteLength: Math.min(max, span.byteLength - k * max),
  }));
}

function accessIn(
  { index, operand }: Placed,
  offset: number,
  { width, axis, gathersVectors, transposed }: VectorLayout,
): Access {
  const { access: level, shape } = operand.layout;
  if (level === 'scatter') return 'strided';
  if (level === 'gather') {
    const last = shape.length - 1;
    const access = accessOf({ strides: operand.strides, axis: last, width: 4, offset });
    const isWhole = (shape[last] as number) % 4 === 0;
    return width === 4 && gathersVectors.has(index) && access === 'vector' && isWhole ? 'vector' : 'strided';
  }
  const own = transposed?.inputs.has(index) === true ? transposed.axis : axis;
  return accessOf({ strides: operand.strides, axis: own, width, offset });
}

function groupsOf(placed: readonly Placed[], traits: DeviceTraits): readonly Group[] | undefined {
  const { maxBindingBytes, storageAlignment } = traits;
  const groups: Group[] = [];
  const outputs = placed.filter(({ operand }) => operand.isOutput);
  const buffers = new Set(outputs.map(({ span }) => span.buffer));
  const separate = placed.filter(({ operand, span }) => !operand.isOutput && !buffers.has(span.buffer));
  for (const member of separate) groups.push({ members: [member], isWritten: false });
  for (const buffer of buffers) {
    const members = placed.filter(({ span }) => span.buffer === buffer);
    const hull = bindable(hullOf(members), storageAlignment).span;
    if (hull.byteLength <= maxBindingBytes) {
      groups.push({ members, isWritten: true });
      continue;
    }
    const own = members.filter(({ operand }) => operand.isOutput);
    // Outputs that are far from each other: those that cannot be apart share a binding.
    for (const outputsHere of clustersOf(own, storageAlignment)) {
      const isInPlace = ({ operand, span }: Placed): boolean =>
        !operand.isOutput && outputsHere.some((output) => isSame(span, output.span));
      groups.push({ members: [...outputsHere, ...members.filter(isInPlace)], isWritten: true });
    }
    for (const member of members) {
      if (member.operand.isOutput || own.some(({ span }) => isSame(span, member.span))) continue;
      const isFar = bindable(member.span, storageAlignment).span.byteLength > maxBindingBytes;
      if (isFar && !isFarGather([member])) return undefined;
      const inCopy = { ...member.span, byteOffset: member.span.byteOffset % 4 };
      groups.push({ members: [{ ...member, span: inCopy }], isWritten: false, copied: member.span });
    }
  }
  return groups;
}

/** Operands of one buffer by the bindings that they need: neighbours that one binding would share with another are together. */
function clustersOf(members: readonly Placed[], storageAlignment: number): readonly (readonly Placed[])[] {
  const clusters: Placed[][] = [];
  let end = 0;
  for (const member of [...members].sort((a, b) => a.span.byteOffset - b.span.byteOffset)) {
    const { byteOffset, byteLength } = bindable(member.span, storageAlignment).span;
    if (clusters.length > 0 && byteOffset < end) clusters.at(-1)?.push(member);
    else clusters.push([member]);
    end = Math.max(end, byteOffset + byteLength);
  }
  return clusters;
}

function isSame(a: Span, b: Span): boolean {
  return a.byteOffset === b.byteOffset && a.byteLength === b.byteLength;
}

function hullOf(members: readonly Placed[]): Span {
  const { buffer } = (members[0] as Placed).span;
  const start = Math.min(...members.map(({ span }) => span.byteOffset));
  const end = Math.max(...members.map(({ span }) => span.byteOffset + span.byteLength));
  return { buffer, byteOffset: start, byteLength: end - start };
}

/** Scratch memory of the operands of one plan: what several launches need is made once. */
export class PlanScratch {
  readonly #recorder: Recorder;
  readonly #copies: Map<string, Span> = new Map();
  #nothing: Span | undefined;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /** The buffer for an operand of no elements. */
  get nothing(): Span {
    this.#nothing ??= this.#recorder.scratch(16);
    return this.#nothing;
  }

  /** A copy of an input; it begins `source.byteOffset % 4` bytes into scratch memory. */
  copyOf(source: Span): Span {
    const key = [source.buffer.id, source.byteOffset, source.byteLength].join();
    return madeOnce(this.#copies, key, () => toScratch(source, this.#recorder));
  }
}
