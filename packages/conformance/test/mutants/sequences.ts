import type { Operand } from '@concord/backend-core/implement';
import type { CpuBackend } from '@concord/backend-cpu';
import { inBinary, inReduce, inUnary } from './derived.ts';
import { naiveConv } from './naive-conv2d.ts';
import { mutantsOf, type Wrap, inFront, inKernel, type KernelCalls, type Mutant } from './mutant.ts';

type Memory = Operand<ArrayBuffer>;

const isMemory = (value: unknown): value is Memory =>
  typeof value === 'object' && value !== null && 'buffer' in value && 'byteOffset' in value;

/** A number for each buffer: what the handle of one is to a cache. */
const numbers = new WeakMap<ArrayBuffer, number>();
let last = 0;
function numberOf({ buffer }: Memory): number {
  const known = numbers.get(buffer) ?? ++last;
  numbers.set(buffer, known);
  return known;
}

/** Fields that follow from the others. */
const FOLLOWING = ['operands', 'outputShape'];

/**
 * A cache that takes what it has for a call with the same pointers that differs in one field: the call before, which had it
 * otherwise.
 */
function forgets<Name extends keyof KernelCalls>(name: Name, field: keyof KernelCalls[Name] & string): Wrap {
  const kept = new Map<string, unknown>();
  return inKernel(name, (call, run) => {
    const entries = Object.entries(call).filter(([other]) => other !== field && !FOLLOWING.includes(other));
    const key = JSON.stringify(entries, (_, value: unknown) =>
      isMemory(value) ? [numberOf(value), value.byteOffset] : value,
    );
    if (!kept.has(key)) kept.set(key, call[field]);
    run({ ...call, [field]: kept.get(key) });
  });
}

/** Bindings of the call before serve a call with the same buffers, at other offsets of them. */
function forgetsOffset<Name extends keyof KernelCalls>(name: Name, operand: keyof KernelCalls[Name] & string): Wrap {
  let before: Memory | undefined;
  return inKernel(name, (call, run) => {
    const now = call[operand] as Memory;
    const isSame = before !== undefined && before.buffer === now.buffer && before.byteLength === now.byteLength;
    const used = isSame ? (before as Memory) : now;
    before = now;
    run({ ...call, [operand]: used });
  });
}

/** A vector is read from 8 in 16 bytes as if it began at 0, where nothing else is moved. */
const roundedDown = ({ buffer, byteOffset, byteLength }: Memory): Memory => ({
  ...{ buffer, byteLength },
  byteOffset: byteOffset - (byteOffset % 16),
});
const isAtEight = ({ byteOffset }: Memory, others: readonly Memory[]): boolean =>
  byteOffset % 16 === 8 && others.every((other) => other.byteOffset % 16 === 0);

function alignedToEight<Name extends 'gemm' | 'conv2dForward' | 'attention'>(name: Name, moved: string): Wrap {
  return inKernel(name, (call, run) => {
    const operands = Object.entries(call).filter((entry): entry is [string, Memory] => isMemory(entry[1]));
    const own = operands.find(([field]) => field === moved)?.[1] as Memory;
    const others = operands.flatMap(([field, operand]) => (field === moved ? [] : [operand]));
    run(isAtEight(own, others) ? { ...call, [moved]: roundedDown(own) } : call);
  });
}

/** Outputs of an element-wise call at 8 in 16 bytes lose their last vector. */
function losesLast(output: Memory, others: readonly Memory[], run: () => void): void {
  if (!isAtEight(output, others)) {
    run();
    return;
  }
  const { buffer, byteOffset, byteLength } = output;
  const from = byteOffset + byteLength - 4;
  const kept = buffer.slice(from, from + 4);
  run();
  new Uint8Array(buffer, from, 4).set(new Uint8Array(kept));
}

/** The element after the last column of a row is its last column, with a dilation of 2 along the width alone. */
const widthEdge = (strideWidth: number): Wrap =>
  inKernel('conv2dForward', (call, run) => {
    const { stride, dilation, dtype } = call;
    const isPlain = stride[0] === 1 && stride[1] === strideWidth && dilation[0] === 1 && dilation[1] === 2;
    if (!isPlain || dtype !== 'f32' || call.transposed) run(call);
    else {
      naiveConv(call, {
        change: (term, { inputShape: [, , , width] }) => {
          if (term.x >= width) term.x = width - 1;
        },
      });
    }
  });

/** Reads under way share this many places: one more takes the place of the first. */
const PLACES = 64;
const sharedStaging: Wrap = inFront((backend) => {
  const places: Uint8Array[] = [];
  let reads = 0;
  return {
    copyDtoh: async (dst, src, options) => {
      if (!ArrayBuffer.isView(dst)) return backend.copyDtoh(dst, src, options);
      const own = new Uint8Array(dst.byteLength);
      const index = reads++ % PLACES;
      await backend.copyDtoh(own, src, options);
      places[index] = own;
      // All that were asked for in one go arrive before the first is looked at.
      await new Promise((resolve) => {
        setTimeout(resolve);
      });
      const found = places[index] ?? own;
      new Uint8Array(dst.buffer, dst.byteOffset, dst.byteLength).set(found.subarray(0, dst.byteLength));
    },
  };
});

/** The memory that a pool keeps, and how it is taken and given back. */
interface Pooling {
  doAlloc(bytes: number): ArrayBuffer;
  doFree(buffer: ArrayBuffer): void;
}

/** At every n-th free, put a buffer into the pool twice. */
const TWICE_EVERY = 13;
const releasedTwice: Wrap = (backend: CpuBackend) => {
  const pooling = backend as unknown as Pooling;
  const alloc = pooling.doAlloc.bind(backend);
  const pool = new Map<number, ArrayBuffer[]>();
  let frees = 0;
  pooling.doAlloc = (bytes) => pool.get(bytes)?.pop() ?? alloc(bytes);
  pooling.doFree = (buffer) => {
    const own = pool.get(buffer.byteLength) ?? [];
    own.push(buffer);
    if (++frees % TWICE_EVERY === 0) own.push(buffer);
    pool.set(buffer.byteLength, own);
  };
  return backend;
};

const SEQUENCE = /\/sequence\//;
const IN_FLIGHT = /^memory\/in flight/;

const byField = <Field extends string>(fields: readonly Field[], wrap: (field: Field) => Wrap): Record<string, Wrap> =>
  Object.fromEntries(fields.map((field) => [field, wrap(field)]));

const PRODUCT_FIELDS = ['lda', 'ldb', 'ldc', 'strideA', 'strideB', 'strideC', 'alpha', 'beta', 'transA'] as const;
const CONV_FIELDS = ['stride', 'padding', 'dilation'] as const;
const ATTENTION_FIELDS = ['scale', 'causal', 'causalOffset', 'window', 'softcap'] as const;
const PLAN = 'a plan forgets';
const OFFSET = 'bindings forget the offset of';
const [PRODUCTS, CONV, ATTENTION] = [['gemm', 'batchedGemm'], ['conv2dForward'], ['attention']] as const;

const forgotten: readonly Mutant[] = [
  ...mutantsOf(
    `gemm: ${PLAN}`,
    PRODUCTS,
    byField(PRODUCT_FIELDS, (field) => forgets('gemm', field)),
  ),
  ...mutantsOf(
    `conv2d: ${PLAN}`,
    CONV,
    byField(CONV_FIELDS, (field) => forgets('conv2dForward', field)),
  ),
  ...mutantsOf(
    `attention: ${PLAN}`,
    ATTENTION,
    byField(ATTENTION_FIELDS, (field) => forgets('attention', field)),
  ),
  ...mutantsOf(
    `gemm: ${OFFSET}`,
    ['gemm'],
    byField(['a', 'b', 'c'], (field) => forgetsOffset('gemm', field)),
  ),
  ...mutantsOf(
    `conv2d: ${OFFSET}`,
    CONV,
    byField(['input', 'filter', 'output'], (field) => forgetsOffset('conv2dForward', field)),
  ),
  ...mutantsOf(
    `attention: ${OFFSET}`,
    ATTENTION,
    byField(['q', 'v', 'o'], (field) => forgetsOffset('attention', field)),
  ),
];

const misaligned: readonly Mutant[] = [
  ...(['a', 'b'] as const).map(
    (field) =>
      ({ name: `gemm: ${field} at 8 in 16 bytes`, ops: ['gemm'], wrap: alignedToEight('gemm', field) }) as const,
  ),
  { name: 'conv2d: input at 8 in 16 bytes', ops: ['conv2dForward'], wrap: alignedToEight('conv2dForward', 'input') },
  { name: 'attention: k at 8 in 16 bytes', ops: ['attention'], wrap: alignedToEight('attention', 'k') },
  {
    name: 'unary: output at 8 in 16 bytes',
    ops: ['unary'],
    wrap: inUnary(({ input, output }, run) => losesLast(output, [input], run)),
  },
  {
    name: 'binary: output at 8 in 16 bytes',
    ops: ['binary'],
    wrap: inBinary(({ a, b, output }, run) => losesLast(output, [a, b], run)),
  },
  {
    name: 'reduce: output at 8 in 16 bytes',
    ops: ['reduce'],
    wrap: inReduce(({ input, output }, run) => losesLast(output, input === undefined ? [] : [input], run)),
  },
];

const edges: readonly Mutant[] = [1, 2].map((stride) => ({
  name: `conv2d: the right edge repeated with dilation 2 and stride ${stride} along the width alone`,
  ops: ['conv2dForward'],
  wrap: widthEdge(stride),
}));

/** Bugs that show in calls one after another, at single offsets and edges, and in memory under way. */
export const sequenceMutants: readonly Mutant[] = [
  ...[...forgotten, ...misaligned, ...edges].map((mutant) => ({ ...mutant, within: SEQUENCE })),
  { name: 'memory: reads under way share 64 places', ops: ['memory'], within: IN_FLIGHT, wrap: sharedStaging },
  { name: 'memory: a buffer released twice', ops: ['memory'], within: IN_FLIGHT, wrap: releasedTwice },
];
