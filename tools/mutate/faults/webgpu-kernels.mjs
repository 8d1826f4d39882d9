// @ts-check

const kernelsConv2dDirectWgsl = 'packages/backend-webgpu/src/kernels/conv2d/direct.wgsl.ts';
const kernelsConv2dDirect = 'packages/backend-webgpu/src/kernels/conv2d/direct.wgsl.ts';
const kernelsConv2dImplicitGemm = 'packages/backend-webgpu/src/kernels/conv2d/implicit-gemm.wgsl.ts';
const kernelsConv2dBindWindow = 'packages/backend-webgpu/src/kernels/conv2d/windows.ts';
const kernelsConv2dAddSplitsWgsl = 'packages/backend-webgpu/src/kernels/conv2d/implicit-gemm.wgsl.ts';
const kernelsConv2dInputStrip = 'packages/backend-webgpu/src/kernels/conv2d/strips.ts';
const kernelsConv2dWindows = 'packages/backend-webgpu/src/kernels/conv2d/windows.ts';
const kernelsConv2dPlan = 'packages/backend-webgpu/src/kernels/conv2d/plan.ts';
const kernelsMemoryPlan = 'packages/backend-webgpu/src/kernels/memory/plan.ts';
const kernelsMemoryWgsl = 'packages/backend-webgpu/src/kernels/memory/plan.ts';
const kernelsOperands = 'packages/backend-webgpu/src/kernels/operands.ts';
const kernelsGrid = 'packages/backend-webgpu/src/kernels/dispatch.ts';
const kernelsLaunchPlan = 'packages/backend-webgpu/src/kernels/launch-plan.ts';

/** Faults of the WebGPU backend's kernels and their plans.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const webgpuKernelFaults = [
  {
    file: kernelsConv2dDirectWgsl,
    find: 'load(at, is_inside & (x < u.width))',
    replace: 'load(at, is_inside & (x <= u.width))',
    breaks: 'A convolution reads the first element of the next row as if it were beyond the right edge.',
  },
  {
    file: kernelsConv2dDirectWgsl,
    find: 'corner.y + row < u.height',
    replace: 'corner.y + row <= u.height',
    breaks: 'A convolution reads the next plane below the bottom edge.',
  },
  {
    file: kernelsConv2dDirectWgsl,
    find: 'let row = r * u.dilation_h;',
    replace: 'let row = r;',
    breaks: 'Dilation along columns is ignored.',
  },
  {
    file: kernelsConv2dDirectWgsl,
    find: 'var at = row_at + s * u.dilation_w;',
    replace: 'var at = row_at + s;',
    breaks: 'With dilation 2 the addresses in a row do not match its coordinates.',
  },
  {
    file: kernelsConv2dDirectWgsl,
    find: 'const checks = [`column + ${j}u < u.output_width`];',
    replace: 'const checks = [`column + ${j}u <= u.output_width`];',
    breaks: 'A strip at the right edge overwrites the row below.',
  },
  {
    file: kernelsConv2dDirectWgsl,
    find: 'min(first_filter + ${i}u, u.filters - 1u)',
    replace: 'min(first_filter + ${i}u, u.filters - 2u)',
    breaks: 'The last filters of a block that is not full take the weights of others.',
  },
  {
    file: kernelsConv2dDirect,
    find: 'filterWidth > 1 && strideW === dilationW;',
    replace: 'filterWidth > 1 && strideW === 1;',
    breaks: 'With stride 1 and dilation 2 along a row inputs are reused that are not shared.',
  },
  {
    file: kernelsConv2dDirect,
    find: 'filterWidth > 1 && strideW === dilationW;',
    replace: 'filterWidth > 1 && dilationW === 1;',
    breaks: 'With stride 2 and dilation 1 along a row inputs are reused that are not shared.',
  },
  {
    file: kernelsConv2dDirect,
    find: 'Math.ceil(outputWidth / block.columns)',
    replace: 'Math.max(1, Math.floor(outputWidth / block.columns))',
    breaks: 'The right edge of rows that are no multiple of a strip is not computed.',
  },
  {
    file: kernelsConv2dBindWindow,
    find: 'accumulate: channels.first > 0 ? 1 : 0,',
    replace: 'accumulate: 0,',
    breaks: "A convolution whose channels are cut keeps only the last piece's sums.",
  },
  {
    file: kernelsConv2dBindWindow,
    find: 'isPadded: call.padding.some((extent) => extent > 0),',
    replace: 'isPadded: call.padding[0] > 0,',
    breaks: 'Padding at the right and bottom alone is read from memory.',
  },
  {
    file: kernelsConv2dImplicitGemm,
    find: 'if (isWhole && !shape.isPadded) return',
    replace: 'if (isWhole) return',
    breaks: 'A padded convolution with a whole number of steps reads beyond the image.',
  },
  {
    file: kernelsConv2dImplicitGemm,
    find: 'shape.filterWidth <= MAX_COLUMNS',
    replace: 'shape.filterWidth <= MAX_COLUMNS + 1',
    breaks: 'A filter of 17 columns is computed with the sets of 16.',
  },
  {
    file: kernelsConv2dBindWindow,
    find: 'stride_w: stride[1] % MODULUS,',
    replace: 'stride_w: stride[0] % MODULUS,',
    breaks: 'With stride 2 on one axis only, both axes take it.',
  },
  {
    file: kernelsConv2dBindWindow,
    find: 'dilation_h: dilation[0] % MODULUS,',
    replace: 'dilation_h: dilation[1] % MODULUS,',
    breaks: 'With dilation 2 on one axis only, both axes take it.',
  },
  {
    file: kernelsConv2dAddSplitsWgsl,
    find: 'var split = 1u;',
    replace: 'var split = 2u;',
    breaks: 'The second range of a split convolution is not added.',
  },
  {
    file: kernelsConv2dAddSplitsWgsl,
    find: '  if (u.accumulate == 1u) { sum += output[u.output_at + entry]; }',
    replace: '',
    breaks: 'A split convolution in windows forgets the channels before.',
  },
  {
    file: kernelsConv2dInputStrip,
    find: '(x + vec4u(${tap}.z) < vec4u(u.width))',
    replace: '(x + vec4u(${tap}.z) <= vec4u(u.width))',
    breaks: 'A large filter at the right edge reads the next row.',
  },
  {
    file: kernelsConv2dInputStrip,
    find: '(y + vec4u(${tap}.y) < vec4u(u.height))',
    replace: '(y + vec4u(${tap}.y) <= vec4u(u.height))',
    breaks: 'A large filter at the bottom edge reads the next plane.',
  },
  {
    file: kernelsConv2dWindows,
    find: 'fitting(sizes.images, sizes.groups * groupInput, sizes.groups * groupOutput)',
    replace: 'fitting(sizes.images, sizes.groups * groupInput)',
    breaks: 'A convolution with a large output needs a binding larger than there are.',
  },
  {
    file: kernelsConv2dWindows,
    find: 'yield { first, count: Math.min(size, total - first) };',
    replace: 'yield { first, count: size };',
    breaks: 'The last windows of a convolution reach beyond its end.',
  },
  {
    file: kernelsConv2dPlan,
    find: 'const weights = apartFrom(call.output, call.filter, recorder);',
    replace: 'const weights = call.filter;',
    breaks: "A filter in the output's buffer makes the device refuse the convolution.",
  },
  {
    file: kernelsMemoryPlan,
    find: '  const src = apartFrom(dst, source, recorder);',
    replace: '  const src = source;',
    breaks: 'Copies within one buffer are refused.',
  },
  {
    file: kernelsMemoryPlan,
    find: 'dst.byteOffset % 4 === 0 && src.byteOffset % 4 === 0 && dst',
    replace: 'dst.byteOffset % 4 === 0 && dst',
    breaks: 'A copy from an offset that is no multiple of 4 is refused.',
  },
  {
    file: kernelsMemoryPlan,
    find: 'byte * 0x01010101',
    replace: 'byte',
    breaks: 'A fill writes one byte of four.',
  },
  {
    file: kernelsMemoryPlan,
    find: 'Math.min((4 - (byteOffset % 4)) % 4, byteLength)',
    replace: '(4 - (byteOffset % 4)) % 4',
    breaks: 'A short write within one word changes the bytes after it.',
  },
  {
    file: kernelsMemoryWgsl,
    find: 'let low = 0xffffffffu << (8u * (max(u.begin, first) - first));',
    replace: 'let low = 0xffffffffu;',
    breaks: 'A copy changes the bytes of the word before its first.',
  },
  {
    file: kernelsMemoryWgsl,
    find: '  if (bits != 0u) { value |=',
    replace: '  { value |=',
    breaks: 'A copy of bytes whose source and destination lie equally in their words is wrong.',
  },
  {
    file: kernelsMemoryWgsl,
    // One word more is no fault: the device keeps it within the binding, whose last word gets the same value.
    find: 'if (index < u.count)',
    replace: 'if (index + 1u < u.count)',
    breaks: 'A fill leaves out its last word.',
  },
  {
    file: kernelsOperands,
    find: 'Math.ceil((byteOffset + operand.byteLength) / 4) * 4;',
    replace: 'Math.floor((byteOffset + operand.byteLength) / 4) * 4;',
    breaks: 'An operand of 2 bytes lacks its last element.',
  },
  {
    file: kernelsOperands,
    find: 'byteOffset: copy.byteOffset + lead, byteLength',
    replace: 'byteOffset: copy.byteOffset, byteLength',
    breaks: "An input of 2 bytes at an odd place in the output's buffer is read one element off.",
  },
  {
    file: kernelsOperands,
    find: 'input.buffer === output.buffer ? toScratch',
    replace: 'input === output ? toScratch',
    breaks: "An input in the output's buffer makes the device refuse the op.",
  },
  {
    file: kernelsGrid,
    find: 'const x = Math.ceil(wanted / z / y);',
    replace: 'const x = Math.floor(wanted / z / y);',
    breaks: 'The last workgroups of a large launch do not run.',
  },
  {
    file: kernelsLaunchPlan,
    find: 'alignment: 256,',
    replace: 'alignment: 16,',
    breaks: 'A call whose operand is 16 bytes further on runs with the plan of the call before.',
  },
];
