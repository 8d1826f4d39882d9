import type { CheckedConv2d, CheckedEpilogue, Operand, ResolvedGemm } from '@concord/backend-core/implement';
import { type CheckedRun, checkedRun, defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { TransposedConvolution } from './transposed-convolution.ts';

/** Results in float32 that an output is made of, and how they lie. */
export interface Results<Buffer> {
  readonly span: Operand<Buffer>;
  /** One an axis of the output's domain. */
  readonly strides: readonly number[];
}

/** Matrices of results in float32: row r of matrix b begins at element `b * stride + r * ld`. */
export interface ResultMatrix<Buffer> {
  readonly span: Operand<Buffer>;
  readonly dtype: 'f32';
  readonly ld: number;
  readonly stride: number;
}

/** A call whose epilogue's inputs are its own operands. */
interface CallWithEpilogue {
  readonly epilogue?: CheckedEpilogue | undefined;
}

/** A call of `conv2dForward` with its operands. */
type Conv2dCall<Buffer> = CheckedConv2d & Readonly<Record<'input' | 'filter' | 'output', Operand<Buffer>>>;

/** Plans a `run` of one output. */
type PlanRun<Buffer, Recorder> = (
  geometry: CheckedRun,
  inputs: readonly (Operand<Buffer> | undefined)[],
  output: Operand<Buffer>,
  params: readonly number[],
  recorder: Recorder,
) => void;

/** The effect if there is no epilogue: the result is stored as the output's dtype. */
const cast: Kernel = defineKernel('cast', { inputs: { acc: 'f32' } }, ({ acc }) => ({ y: acc }));

const FLOAT_BYTES = 4;

/** Row-major strides without gaps. */
function packedStrides(shape: readonly number[]): readonly number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
}

/** Planning of ops whose results are in float32 before a `run` makes their output of them: the epilogue, and one rounding. */
export class FloatResults<Buffer, Recorder extends { scratch(bytes: number): Operand<Buffer> }> {
  readonly #planRun: PlanRun<Buffer, Recorder>;

  constructor(planRun: PlanRun<Buffer, Recorder>) {
    this.#planRun = planRun;
  }

  /**
   * Plans the last step of an op: each element of `output` is the epilogue of a result, or the result itself, rounded once.
   *
   * @param domain - sizes of the output
   * @param layout - strides and dtype of the output
   */
  finish(
    call: CallWithEpilogue,
    domain: readonly number[],
    layout: Pick<CheckedRun['outputs'][number], 'strides' | 'dtype'>,
    output: Operand<Buffer>,
    results: Results<Buffer>,
    recorder: Recorder,
  ): void {
    const { kernel = cast, geometry: own, params = [] } = call.epilogue ?? {};
    const views = (own?.inputs ?? []).map(({ name, strides, dtype }) => [name, { strides, dtype }]);
    const geometry = checkedRun(kernel, {
      shape: domain,
      inputs: { ...Object.fromEntries(views), acc: { strides: results.strides } },
      outputs: { [kernel.outputs[0]?.name as string]: { strides: layout.strides, dtype: layout.dtype } },
    });
    const operands = call as Readonly<Record<string, Operand<Buffer> | undefined>>;
    const inputs = kernel.inputs.map(({ name }) => (name === 'acc' ? results.span : operands[`epilogue.${name}`]));
    // Shapes are planned without parameters; those of the call come with the call.
    const values = kernel.params.map((_, index) => params[index] ?? 0);
    this.#planRun(geometry, inputs, output, values, recorder);
  }

  /** The same convolution of a filter in float32, which is planned to be written to scratch memory where it is stored otherwise. */
  withFloatFilter<Call extends Conv2dCall<Buffer>>(call: Call, recorder: Recorder): Call {
    const { filterShape, dtypeFilter } = call;
    if (dtypeFilter === undefined) return call;
    const filter = this.widened(call.filter, filterShape, packedStrides(filterShape), recorder, dtypeFilter).span;
    return { ...call, filter, dtypeFilter: undefined };
  }

  /** Plans a copy of an operand of f16, or bf16, as packed float32, in scratch memory. */
  widened(
    operand: Operand<Buffer>,
    shape: readonly number[],
    strides: readonly number[],
    recorder: Recorder,
    dtype: 'f16' | 'bf16' = 'f16',
  ): Results<Buffer> {
    const results = this.scratch(shape, recorder);
    const inputs = { acc: { strides, dtype } } as const;
    this.#planRun(checkedRun(cast, { shape, inputs, outputs: {} }), [operand], results.span, [], recorder);
    return results;
  }

  /** Scratch memory for packed results. */
  scratch(domain: readonly number[], recorder: Recorder): Results<Buffer> {
    const span = recorder.scratch(FLOAT_BYTES * domain.reduce((product, size) => product * size, 1));
    return { span, strides: packedStrides(domain) };
  }

  /**
   * Plans a product by `planFloats`, which takes float32 for C, and its last step. It is given the C to compute instead of the
   * call's, where that has another dtype.
   */
  product(
    call: ResolvedGemm<Buffer>,
    recorder: Recorder,
    planFloats: (change: { readonly c?: ResultMatrix<Buffer> }) => void,
  ): void {
    const { m, n, batchCount, beta, dtype, c } = call;
    const domain = [batchCount, m, n];
    const strides = [call.strideC, call.ldc, 1];
    let results: Results<Buffer> = { span: c, strides };
    if (dtype === 'f32') planFloats({});
    else {
      results = beta === 0 ? this.scratch(domain, recorder) : this.widened(c, domain, strides, recorder, dtype);
      planFloats({ c: { span: results.span, dtype: 'f32', ld: n, stride: batchCount === 1 ? 0 : m * n } });
    }
    this.finish(call, domain, { strides, dtype }, c, results, recorder);
  }

  /**
   * Plans a product of bf16 by `plan`, which takes float32 for A and C: A is widened and C rounded in float32 memory, a B of bf16 is
   * read as it is.
   */
  bfloatProduct(call: ResolvedGemm<Buffer>, recorder: Recorder, plan: (call: ResolvedGemm<Buffer>) => void): void {
    const { m, k, batchCount, transA, dtypeB = 'bf16' } = call;
    const [rows, columns] = transA ? [k, m] : [m, k];
    const stored = [call.strideA === 0 ? 1 : batchCount, rows, columns];
    const a = this.widened(call.a, stored, [call.strideA, call.lda, 1], recorder, 'bf16').span;
    this.product(call, recorder, ({ c }) => {
      const { span, ld, stride } = c as ResultMatrix<Buffer>;
      const wide = { dtype: 'f32', dtypeB: dtypeB === 'f32' ? undefined : dtypeB, epilogue: undefined } as const;
      const inA = { a, lda: columns, strideA: call.strideA === 0 ? 0 : rows * columns };
      plan({ ...call, ...wide, ...inA, c: span, ldc: ld, strideC: stride });
    });
  }

  /**
   * Plans a convolution by `planFloats`, which takes float32, not transposed: halves by float32 copies of the operands.
   *
   * @param planFloats - returns whether it applied the epilogue that the call has, if it has one
   */
  convolution<Call extends Conv2dCall<Buffer>>(
    given: Call,
    recorder: Recorder,
    planFloats: (call: Call) => boolean,
  ): void {
    const call = this.withFloatFilter(given, recorder);
    const { inputShape, filterShape, outputShape, dtype, epilogue } = call;
    const strides = packedStrides(outputShape);
    if (call.transposed) {
      this.#transposed(call, recorder, planFloats);
      return;
    }
    if (dtype === 'f32') {
      if (planFloats(call) || epilogue === undefined) return;
      this.finish(call, outputShape, { strides, dtype }, call.output, { span: call.output, strides }, recorder);
      return;
    }
    const input = this.widened(call.input, inputShape, packedStrides(inputShape), recorder).span;
    const filter = this.widened(call.filter, filterShape, packedStrides(filterShape), recorder).span;
    const results = this.scratch(outputShape, recorder);
    planFloats({ ...call, dtype: 'f32', input, filter, output: results.span, epilogue: undefined });
    this.finish(call, outputShape, { strides, dtype }, call.output, results, recorder);
  }

  #transposed<Call extends Conv2dCall<Buffer>>(
    call: Call,
    recorder: Recorder,
    planFloats: (call: Call) => unknown,
  ): void {
    const { inputShape, outputShape, dtype, epilogue } = call;
    const convolution = new TransposedConvolution(call);
    const { whole } = convolution;
    const strides = packedStrides(inputShape);
    const input = dtype === 'f32' ? call.input : this.widened(call.input, inputShape, strides, recorder).span;
    const results = (whole === undefined ? convolution.parts : [whole]).map(({ filter, change }): Operand<Buffer> => {
      const flipped = this.scratch(change.filterShape, recorder).span;
      this.#planRun(filter, [call.filter], flipped, [], recorder);
      const isOutput = whole !== undefined && dtype === 'f32';
      const output = isOutput ? call.output : this.scratch(change.outputShape, recorder).span;
      planFloats({ ...call, ...change, dtype: 'f32', input, filter: flipped, output, epilogue: undefined });
      return output;
    });
    const layout = { strides: packedStrides(outputShape), dtype };
    let [span] = results as [Operand<Buffer>];
    if (whole === undefined) {
      // With an epilogue the places are in float32 first.
      const stored = epilogue === undefined ? dtype : 'f32';
      span = stored === dtype ? call.output : this.scratch(outputShape, recorder).span;
      this.#planRun(convolution.gather(stored), results, span, [], recorder);
    }
    if (epilogue === undefined && span === call.output) return;
    this.finish(call, outputShape, layout, call.output, { span, strides: layout.strides }, recorder);
  }
}
