// @ts-check

const kernelsRunBind = 'packages/backend-webgpu/src/kernels/run/bind.ts';
const kernelsRunOperandCode = 'packages/backend-webgpu/src/kernels/run/operand-code.ts';
const kernelsRunGraphScope = 'packages/backend-webgpu/src/kernels/run/graph-scope.ts';
const kernelsRunPiece = 'packages/backend-webgpu/src/kernels/run/piece.ts';
const clientCallWords = 'packages/backend-webgpu/src/client/bind-group-cache.ts';
const kernelsLaunchPlan = 'packages/backend-webgpu/src/kernels/launch-plan.ts';

/** Faults of how the WebGPU backend runs kernels that programs write.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const webgpuRunFaults = [
  {
    file: kernelsRunPiece,
    find: '    open.push(second, first);',
    replace: '    open.push(first);',
    breaks: 'Half of a run that exceeds a binding is not computed.',
  },
  {
    file: kernelsRunPiece,
    find: '  return axis === own || axis === turned?.axis ? width : 1;',
    replace: '  return 1;',
    breaks: 'Pieces of a run that exceeds a binding begin within a vector.',
  },
  {
    file: kernelsRunBind,
    find: 'MAX_BINDINGS - groups.length - (piece.geometry.kernel.hasRows ? 1 : 0);',
    replace: 'MAX_BINDINGS - groups.length;',
    breaks: 'A kernel with rows and many operands needs one binding more than there are.',
  },
  {
    file: kernelsRunBind,
    find: 'const isWhole = (shape[last] as number) % 4 === 0;',
    replace: 'const isWhole = (shape[last] as number) >= 4;',
    breaks: 'A gather of vectors reads beyond rows whose length is no multiple of 4.',
  },
  {
    file: kernelsRunBind,
    find: 'byteOffset: copy.byteOffset - (source.byteOffset % 4) + byteOffset',
    replace: 'byteOffset: copy.byteOffset + byteOffset',
    breaks: 'An input of 2 bytes in the memory of a far output is read one element off.',
  },
  {
    file: kernelsRunBind,
    find: 'clusters.length > 0 && byteOffset < end',
    replace: 'clusters.length > 1 && byteOffset < end',
    breaks: 'Two outputs in one buffer whose bindings overlap are bound as if they did not.',
  },
  {
    file: kernelsRunBind,
    find: 'return a.byteOffset === b.byteOffset && a.byteLength === b.byteLength;',
    replace: 'return a.byteOffset <= b.byteOffset;',
    breaks: 'An input that lies only partly in its output is bound in the place of it.',
  },
  {
    file: kernelsRunBind,
    find: 'const offset = (member.span.byteOffset - start) / BYTES_OF[dtype];',
    replace: 'const offset = ((members[0] as Placed).span.byteOffset - start) / BYTES_OF[dtype];',
    breaks: "An operand that shares its buffer with an output reads at the output's place.",
  },
  {
    file: kernelsRunPiece,
    find: '(at === axis ? own + start : own)',
    replace: '(at === axis ? start : own)',
    breaks: 'A run that is cut twice along one axis computes a part twice and another one never.',
  },
  {
    file: kernelsRunPiece,
    find: '    extent += (size - 1) * stride;',
    replace: '    extent += (size - 2) * stride;',
    breaks: 'The last element of a strided operand lies beyond its binding.',
  },
  {
    file: kernelsRunBind,
    find: '[source.buffer.id, source.byteOffset, source.byteLength].join()',
    replace: '[source.buffer.id, source.byteLength].join()',
    breaks: "Two inputs of one run in the output's memory are taken for the same.",
  },
  {
    file: kernelsRunBind,
    find: '[source.buffer.id, source.byteOffset, source.byteLength].join()',
    replace: '[source.buffer.id, source.byteOffset].join()',
    breaks: 'Two inputs of one run that begin at one place are taken to be equally long.',
  },
  {
    file: kernelsRunOperandCode,
    find: '  atomicAnd(&${name}[at >> ${shift}u], ~(${mask} << shift));',
    replace: '',
    breaks: 'Bytes beside the one that is stored change.',
  },
  {
    file: kernelsRunOperandCode,
    find: '    default: { return ${bindingName(binding + count - 1)}[rest]; }',
    replace: '    default: { return ${bindingName(binding + count - 2)}[rest]; }',
    breaks: 'The last window of a far gather input is never read.',
  },
  {
    file: kernelsRunOperandCode,
    find: '>> (((${at}) & 1u) << 4u)) & 0xffffu',
    replace: '>> (((${at}) & 0u) << 4u)) & 0xffffu',
    breaks: 'Odd elements of 2 bytes are read as the even ones.',
  },
  {
    file: kernelsRunOperandCode,
    find: '(${v}.z << 16u) | (${v}.w << 24u)',
    replace: '(${v}.z << 8u) | (${v}.w << 24u)',
    breaks: 'The third of four bytes that are stored at once lies in the place of the second.',
  },
  {
    file: kernelsRunOperandCode,
    find: "const by = operand.access === 'dense' ? '1u' : step;",
    replace: "const by = '1u';",
    breaks: 'Strided elements are loaded as if they were neighbours.',
  },
  {
    file: kernelsRunGraphScope,
    find: '`(${text} < ${words}(u.',
    replace: '`(${text} <= ${words}(u.',
    breaks: 'A gather with the index just beyond the last reads a neighbour instead of the value for it.',
  },
  {
    file: kernelsRunGraphScope,
    find: "operand.access === 'vector' && indices.slice(0, -1).every(({ width }) => width === 1);",
    replace: "operand.access === 'vector';",
    breaks: 'A gather of vectors takes one row for four points whose rows differ.',
  },
  {
    file: kernelsRunGraphScope,
    find: 'spec.operands[numberOf(spec.kernel.inputs, data)]?.dtype === dtype;',
    replace: 'spec.operands[inputOf(spec, data.name)] !== undefined;',
    breaks: 'An input that is stored as another type keeps its bits.',
  },
  {
    file: clientCallWords,
    find: 'index < count;',
    replace: 'index < count - 1;',
    breaks: 'A call that differs from the one before in the last of its parameters runs with the old one.',
  },
  {
    file: clientCallWords,
    find: 'if (words === before) words = before.slice();',
    replace: '',
    breaks: 'Parameters of calls in one batch are those of the last of them.',
  },
  {
    file: clientCallWords,
    find: '(step.words[at] as number) + start',
    replace: 'step.words[at] as number',
    breaks: 'A call along a memory works on the place of the call that was planned.',
  },
  {
    file: kernelsLaunchPlan,
    find: "if (kernel !== 'gemm' && kernel !== 'conv2dForward') return [];",
    replace: "if (kernel !== 'gemm') return [];",
    breaks: "The parameters of a convolution's epilogue that are floats arrive as whole numbers.",
  },
  {
    file: kernelsLaunchPlan,
    find: "call.geometry.kernel.params.map(({ type }) => type === 'f32')",
    replace: "call.geometry.kernel.params.map(({ type }) => type !== 'i32')",
    breaks: 'Parameters that are no floats arrive as the bits of floats.',
  },
  {
    file: kernelsRunOperandCode,
    find: 'const stride = `u.${strideName(operand, axis)}`;',
    replace: 'const stride = `u.${strideName(operand, vectorAxis)}`;',
    breaks: "A run over several axes walks each of them with the stride of the vectors' axis.",
  },
];
