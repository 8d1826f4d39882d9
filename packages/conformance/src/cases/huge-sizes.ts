import {
  type ComputeBackend,
  type Conv2dShape,
  type DevicePtr,
  isBackendError,
  OP_NAMES,
  type OpName,
} from '@concord/backend-core';
import { type DefinedOp, OPS } from '@concord/backend-core/implement';
import { caseOf, type ConformanceCase, expectThat } from '../harness/case.ts';
import {
  callOp,
  expectUntouched,
  needsOf,
  SAMPLE_CALLS,
  type SampleCall,
  withNullPointers,
} from '../harness/planned-call.ts';
import { looseRun, needsOfRun, SAMPLE_KERNEL, samplePlan } from './run/refusals.ts';

type Change = Readonly<Record<string, unknown>>;

const describe = (change: Change): string =>
  Object.entries(change)
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join('x') : String(value)}`)
    .join(',');

function zeroSize(sample: SampleCall, change: Change): ConformanceCase {
  const { op } = sample;
  const run: ConformanceCase['run'] = async ({ backend }) => {
    await expectUntouched(backend, sample, () => change);
    callOp(backend, op, { ...withNullPointers(sample), ...change });
  };
  return caseOf(`${op}/zero-size/${describe(change)}`, op, run, needsOf(sample));
}

/** Calls with nothing to do write nothing, and accept null pointers. */
export const zeroSizeCases: readonly ConformanceCase[] = SAMPLE_CALLS.flatMap((sample) =>
  sample.nothingToDo.map((change) => zeroSize(sample, change)),
);

type Fields = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/** Sizes beyond signed and unsigned 32 bits, a device's memory, and exact arithmetic on bytes. */
const SIZES = [2 ** 31, 2 ** 40, 2 ** 53 - 1];
const MAX_MS = 20;
const MAX_BYTES = 10 * 1e6;
/**
 * The best of the repetitions counts: another program may have the processor during some, and the first may compile.
 */
const REPETITIONS = 3;
const OPERAND_BYTES = 4096;

/** Size fields that samples leave to their defaults, given in full. */
const OPTIONAL: { readonly [Op in DefinedOp]?: Fields } = {
  gemm: { lda: 5, ldb: 4, ldc: 4 },
  gemmF16: { lda: 5, ldb: 4, ldc: 4 },
  batchedGemm: { lda: 5, ldb: 4, ldc: 4 },
  conv2dForward: { stride: [1, 1], padding: [0, 0, 0, 0], dilation: [1, 1], groups: 1, outputPadding: [0, 0] },
  attention: {
    ...{ kvHeads: 2, valueDim: 5, causal: true, causalOffset: 0, window: 3 },
    strides: { q: [30, 15, 5], k: [40, 20, 5], v: [40, 20, 5], o: [30, 15, 5] },
    mask: { strides: [24, 12, 4, 1] },
  },
};

/** The sample of `run`, its layouts in full. */
const RUN_SHAPE: Fields = {
  ...{ kernel: SAMPLE_KERNEL, shape: [4, 6], folded: 1 },
  inputs: {
    x: { strides: [6, 1] },
    n: { strides: [6, 1] },
    r: { strides: [1] },
    t: { shape: [9, 5], strides: [5, 1] },
  },
  outputs: { y: { strides: [6, 1] }, s: { strides: [1] } },
};

/** The call of an op with every size field that it has, without pointers. */
function wholeShape(op: OpName): Fields {
  return op === 'run' ? RUN_SHAPE : { ...OPS[op].sample.shape, ...OPTIONAL[op] };
}

/** Returns the paths of the sizes of a call: all numbers but those that its definition calls numbers. */
export function sizePaths(op: OpName, part: unknown = wholeShape(op)): readonly Path[] {
  if (typeof part === 'number') return [[]];
  if (typeof part !== 'object' || part === null || part === SAMPLE_KERNEL) return [];
  const isSize = (name: string): boolean =>
    op === 'run' || (OPS[op].fields as Readonly<Record<string, string>>)[name] !== 'number';
  return Object.entries(part).flatMap(([name, value]) =>
    isSize(name) ? sizePaths(op, value).map((path) => [name, ...path]) : [],
  );
}

function changed(part: unknown, [name = '', ...rest]: Path, value: number): Fields {
  const copy = (Array.isArray(part) ? [...(part as unknown[])] : { ...(part as Fields) }) as Record<string, unknown>;
  copy[name] = rest.length === 0 ? value : changed(copy[name], rest, value);
  return copy;
}

/** Calls with one huge size, the first as they stand; a convolution's also with what follows from the size. */
function hugeShapes(op: OpName, path: Path, size: number): readonly Fields[] {
  const shape = changed(wholeShape(op), path, size);
  return op === 'conv2dForward' ? [shape, consistent(shape, path)] : [shape];
}

/** The convolution whose other sizes fit the one in `path`, where there is one. */
function consistent(shape: Fields, path: Path): Fields {
  const { inputShape, filterShape, outputShape, ...more } = shape as unknown as Required<Conv2dShape>;
  const { stride, padding, dilation, groups } = more;
  const where = path.join('.');
  const [batch, channels, ...image] = inputShape;
  const [filters, perGroup, ...window] = filterShape;
  const n = where === 'outputShape.0' ? outputShape[0] : batch;
  const k = where === 'outputShape.1' ? outputShape[1] : filters;
  const c = where === 'filterShape.1' ? perGroup * groups : channels;
  const lengths = image.map((length, axis) => {
    const padded = length + (padding[axis] as number) + (padding[axis + 2] as number);
    const reach = (dilation[axis] as number) * ((window[axis] as number) - 1) + 1;
    return Math.floor((padded - reach) / (stride[axis] as number)) + 1;
  });
  return {
    ...shape,
    inputShape: [n, c, ...image],
    filterShape: [k, c / groups, ...window],
    outputShape: [n, k, ...lengths],
  };
}

/** The same call with live operands, all of one small size. */
function withPointers(op: OpName, shape: Fields, alloc: () => DevicePtr): Fields {
  if (op !== 'run') {
    const own = Object.fromEntries(OPS[op].operands.map((name) => [name, alloc()]));
    const mask = shape['mask'] as Fields | undefined;
    return { ...shape, ...own, ...(mask === undefined ? {} : { mask: { ...mask, ptr: alloc() } }) };
  }
  const views = (all: unknown): Fields =>
    Object.fromEntries(
      Object.entries(all as Fields).map(([name, view]) => [name, { ...(view as Fields), ptr: alloc() }]),
    );
  const { kernel: _, inputs, outputs, ...rest } = shape;
  return { ...rest, inputs: views(inputs), outputs: views(outputs), params: { p: 1, i: 0, u: 0 } };
}

/** @throws {CaseFailure} where no repetition stays within the bounds; what the action throws must be a refusal */
async function expectQuick(what: string, action: () => unknown): Promise<void> {
  let best = { ms: Infinity, bytes: Infinity };
  for (let time = 0; time < REPETITIONS && (best.ms > MAX_MS || best.bytes > MAX_BYTES); time++) {
    const before = heapBytes();
    const start = performance.now();
    try {
      await action();
    } catch (error) {
      const isRefusal = ['INVALID_ARGUMENT', 'UNSUPPORTED', 'OUT_OF_MEMORY'].some((code) =>
        isBackendError(error, code as never),
      );
      expectThat(isRefusal, `${what}: got ${String(error)}, want a refusal or an answer`);
    }
    const ms = performance.now() - start;
    best = { ms: Math.min(best.ms, ms), bytes: Math.min(best.bytes, heapBytes() - before) };
  }
  const within = best.ms <= MAX_MS && best.bytes <= MAX_BYTES;
  expectThat(within, `${what}: took ${best.ms.toFixed(0)} ms and ${best.bytes} bytes of heap at best`);
}

/** The heap in use, where the runtime tells; a collection in between makes a difference too small, never too large. */
function heapBytes(): number {
  const { process } = globalThis as { readonly process?: { memoryUsage?(): { readonly heapUsed: number } } };
  return process?.memoryUsage?.().heapUsed ?? 0;
}

type EntryPoint = 'call' | 'supports' | 'prepare';

async function tryAll(backend: ComputeBackend, op: OpName, entry: EntryPoint): Promise<void> {
  const allocated: DevicePtr[] = [];
  const alloc = (): DevicePtr => {
    const ptr = backend.alloc(OPERAND_BYTES);
    backend.fill(ptr, 0, OPERAND_BYTES);
    allocated.push(ptr);
    return ptr;
  };
  // The same operands for all: the addresses of a call are read once.
  const pointers = withPointers(op, wholeShape(op), alloc);
  try {
    for (const path of sizePaths(op)) {
      for (const size of SIZES) {
        for (const shape of hugeShapes(op, path, size)) {
          const what = `${entry} of ${op} with ${path.join('.')} = ${size}`;
          await expectQuick(what, () => attempt(backend, op, entry, shape, pointers));
        }
      }
    }
    await backend.synchronize();
  } finally {
    for (const ptr of allocated) backend.free(ptr);
  }
}

function attempt(backend: ComputeBackend, op: OpName, entry: EntryPoint, shape: Fields, pointers: Fields): unknown {
  if (entry === 'supports') return backend.supports(op, shape);
  if (entry === 'prepare') return backend.prepare([{ op, call: shape } as never]);
  const call = merged(pointers, shape);
  return op === 'run' ? looseRun(backend, SAMPLE_KERNEL, call) : callOp(backend, op, call);
}

/** A call with the pointers of another and its own sizes. */
function merged(pointers: unknown, shape: unknown): unknown {
  if (typeof pointers !== 'object' || pointers === null || Array.isArray(pointers)) return shape ?? pointers;
  const own = (shape ?? {}) as Fields;
  return Object.fromEntries(
    Object.entries(pointers).map(([name, part]) => [name, name in own ? merged(part, own[name]) : part]),
  );
}

/** One wrong number keeps no program busy: every size of every op, huge in turn. */
export const hugeSizeCases: readonly ConformanceCase[] = OP_NAMES.flatMap((op) =>
  (['call', 'supports', 'prepare'] as const).map((entry) => {
    const needs = op === 'run' ? needsOfRun(samplePlan()) : needsOf({ op });
    return caseOf(`${op}/huge-sizes/${entry}`, op, ({ backend }) => tryAll(backend, op, entry), needs);
  }),
);
