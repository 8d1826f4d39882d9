import { BYTES_OF } from '../contract/element-types.ts';
import type { TracedLaunch } from '../contract/launch-trace.ts';
import type { KernelCall } from '../implement/backend-kernels.ts';
import type { CheckedRun, RunLayout } from '../kernel/checked-run.ts';
import { ACCUMULATOR, type CheckedEpilogue } from '../ops/epilogue.ts';
import { OPS } from '../ops/index.ts';
import type { OpCost } from '../ops/op-definition.ts';

/** The work of a launch, derived from its call. */
export interface LaunchFacts {
  /** The name of the kernel of a `run`, else the primitive. */
  readonly kernel: string;
  /** The sizes in short: `m128 n64 k32 f32`. */
  readonly size: string;
  /** The checked call: sizes, strides, words, numbers; of a kernel those of its domain and its views. */
  readonly shape: Readonly<Record<string, unknown>>;
  /**
   * Bytes to read and write, every element once; an upper bound for elements that are found by index, or lengths in
   * memory.
   */
  readonly bytes?: number;
  /** Additions, multiplications and functions. */
  readonly operations?: number;
}

const known = new WeakMap<object, LaunchFacts>();

/** The facts of a launch; calls that differ in nothing but operands share them. */
export function factsOf({ op, kernel, call }: TracedLaunch): LaunchFacts {
  if (kernel === undefined || call === undefined) return { kernel: op, size: '', shape: {} };
  let facts = known.get(call);
  if (facts === undefined) {
    facts = describe({ kernel, call } as KernelCall);
    known.set(call, facts);
  }
  return facts;
}

function describe(of: KernelCall): LaunchFacts {
  if (of.kernel === 'run') {
    const { kernel, shape, folded, inputs, outputs } = of.call;
    const views = (layouts: readonly RunLayout[]): unknown =>
      layouts.map(({ name, dtype, shape: own, strides }) => ({ name, dtype, shape: own, strides }));
    const dtypes = [...new Set([...inputs, ...outputs].map(({ dtype }) => dtype))].join(' ');
    return {
      kernel: kernel.name,
      size: `${shape.join('x') || '1'} ${dtypes}`,
      shape: { shape, folded, inputs: views(inputs), outputs: views(outputs) },
      ...costOfRun(of.call),
    };
  }
  const { epilogue } = of.call as { readonly epilogue?: CheckedEpilogue };
  const { operations, bytes } = (OPS[of.kernel].cost as (call: unknown) => OpCost)(of.call);
  const added = epilogue?.geometry.inputs.filter(({ name }) => name !== ACCUMULATOR) ?? [];
  const plain = Object.entries(of.call).filter(([, value]) => typeof value !== 'object' || isNumbers(value));
  return {
    kernel: of.kernel,
    size: `${sizeOf(of)}${epilogue === undefined ? '' : ` + ${epilogue.kernel.name}`}`,
    shape: Object.fromEntries(plain.filter(([, value]) => value !== undefined)),
    operations,
    bytes: epilogue === undefined ? bytes : bytes + bytesOf(epilogue.geometry, added),
  };
}

const isNumbers = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number');

function sizeOf({ kernel, call }: Exclude<KernelCall, { kernel: 'run' }>): string {
  if (kernel === 'gemm') {
    const { batchCount, m, n, k, dtype, dtypeB = dtype } = call;
    const batch = batchCount === 1 ? '' : `b${batchCount} `;
    return `${batch}m${m} n${n} k${k} ${dtype}${dtypeB === dtype ? '' : ` x ${dtypeB}`}`;
  }
  if (kernel === 'conv2dForward') return `${call.inputShape.join('x')} * ${call.filterShape.join('x')} ${call.dtype}`;
  if (kernel === 'topK') return `${call.rows}x${call.columns} k${call.k}`;
  const { batch, heads, kvHeads, seqQ, seqKv, headDim, dtype } = call;
  return `b${batch} h${heads}${heads === kvHeads ? '' : `/${kvHeads}`} q${seqQ} kv${seqKv} d${headDim} ${dtype}`;
}

/** Bytes of some inputs and outputs of a `run`. */
function bytesOf(run: CheckedRun, layouts: readonly RunLayout[]): number {
  const { kernel, rowCount, rowLength } = run;
  const points = rowCount * rowLength;
  const times = timesOf(run);
  const reads = ({ name }: RunLayout): number =>
    kernel.nodes.reduce((sum, node) => sum + (node.kind === 'gather' && node.name === name ? times[node.level] : 0), 0);
  const elements = (layout: RunLayout): number => {
    if (layout.access === 'gather') return Math.min(layout.extent, reads(layout));
    if (layout.access === 'scatter') return Math.min(layout.extent, points);
    const own = layout.shape.reduce(
      (product, size, axis) => (layout.strides[axis] === 0 ? product : product * size),
      1,
    );
    return Math.min(layout.extent, own);
  };
  return layouts.reduce((sum, each) => sum + elements(each) * BYTES_OF[each.dtype], 0);
}

const timesOf = ({ rowCount, rowLength }: CheckedRun) => ({ call: 1, row: rowCount, element: rowCount * rowLength });

function costOfRun(run: CheckedRun): OpCost {
  const times = timesOf(run);
  // A fold or scan takes each element of its row.
  const operations = run.kernel.nodes.reduce((sum, { kind, level }) => {
    if (kind === 'fold' || kind === 'scan') return sum + times.element;
    return kind === 'arithmetic' ? sum + times[level] : sum;
  }, 0);
  return { operations, bytes: bytesOf(run, [...run.inputs, ...run.outputs]) };
}
