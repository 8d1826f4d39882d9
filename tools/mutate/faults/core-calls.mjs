// @ts-check

const opsConv2d = 'packages/backend-core/src/ops/conv2d.ts';
const opsAttention = 'packages/backend-core/src/ops/attention.ts';
const opsGemm = 'packages/backend-core/src/ops/gemm.ts';
const opsTopK = 'packages/backend-core/src/ops/top-k.ts';
const opsEpilogue = 'packages/backend-core/src/ops/epilogue.ts';
const kernelCheckRun = 'packages/backend-core/src/kernel/check-run.ts';
const kernelSameRun = 'packages/backend-core/src/kernel/same-run.ts';
const launchPlans = 'packages/variants/src/launch-plans.ts';
const listMap = 'packages/backend-core/src/implement/list-map.ts';
const readCall = 'packages/backend-core/src/implement/read-call.ts';
const callPlan = 'packages/backend-core/src/implement/call-plan.ts';
const baseBackend = 'packages/backend-core/src/implement/base-backend.ts';

/** Faults of the core: the checks of calls, and the keys of plans that backends share.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const coreCallFaults = [
  {
    file: 'packages/backend-core/src/implement/call-plan.ts',
    find: 'output.inPlaceOf === at && distance !== 0',
    replace: 'output.inPlaceOf === at && distance > 0',
    breaks: 'A kernel whose output has the name of an input stores before that input instead of in its place.',
  },
  {
    file: opsConv2d,
    find: '  if (reach > padded) throw',
    replace: '  if (reach > padded + 1) throw',
    breaks: 'A filter that is one larger than the padded input is accepted.',
  },
  {
    file: opsConv2d,
    find: 'const reach = dilation * (filter - 1) + 1;',
    replace: 'const reach = filter;',
    breaks: 'Dilation does not make a filter larger.',
  },
  {
    file: opsConv2d,
    find: "lengthOf('height', height, top + bottom,",
    replace: "lengthOf('height', height, top + top,",
    breaks: 'Padding with four sides takes the top for the bottom.',
  },
  {
    file: opsConv2d,
    find: 'channels % groups !== 0 || filters % groups !== 0',
    replace: 'channels % groups !== 0',
    breaks: 'Filters that groups do not divide are accepted.',
  },
  {
    file: opsAttention,
    find: 'if (kvHeads === 0 || heads % kvHeads !== 0) throw',
    replace: 'if (kvHeads === 0) throw',
    breaks: 'Heads that the heads of K do not divide are accepted.',
  },
  {
    file: opsAttention,
    find: '  if (!areDistinct(queries, [...oStrides, 1])) {',
    replace: '  if (!areDistinct(queries.slice(1), [...oStrides, 1].slice(1))) {',
    breaks: 'Strides of o that let rows coincide are accepted.',
  },
  {
    file: opsAttention,
    find: 'given.v ?? packed(kvHeads, seqKv),',
    replace: 'given.v ?? packed(heads, seqKv),',
    breaks: 'Packed values are walked with the heads of Q.',
  },
  {
    file: opsAttention,
    find: 'return [heads * seqQ * seqKv, seqQ * seqKv, seqKv, 1];',
    replace: 'return [seqQ * seqKv, seqQ * seqKv, seqKv, 1];',
    breaks: 'A mask of several heads is walked as if there were one.',
  },
  {
    file: opsAttention,
    find: "if (shape.window !== undefined) checkPositive('window', window);",
    replace: "if (shape.window !== undefined) checkSize('window', window);",
    breaks: 'A window of 0 is accepted.',
  },
  {
    file: opsGemm,
    find: '  const columnsA = transA ? m : k;',
    replace: '  const columnsA = k;',
    breaks: 'The least row length of a transposed A is that of A itself.',
  },
  {
    file: opsGemm,
    find: 'const stridesC = [strideC, ldc, 1];',
    replace: 'const stridesC = [Math.max(strideC, m * ldc), ldc, 1];',
    breaks: 'Batches of C that overlap are accepted.',
  },
  {
    file: opsGemm,
    find: "const alpha = checkFloat32('alpha', shape.alpha ?? 1);",
    replace: "const alpha = (checkFloat32('alpha', shape.alpha ?? 1), shape.alpha ?? 1);",
    breaks: 'Alpha is not rounded to float32.',
  },
  {
    file: opsGemm,
    find: 'checkedExtent(name, (batchCount - 1) * stride + extent);',
    replace: 'checkedExtent(name, batchCount > 2 ? (batchCount - 2) * stride + extent : extent);',
    breaks: 'The last batch of B may lie beyond its allocation.',
  },
  {
    file: opsTopK,
    find: 'if (k > columns) throw',
    replace: 'if (k > columns + 1) throw',
    breaks: 'More elements are asked for than there are columns.',
  },
  {
    file: opsEpilogue,
    find: 'elements: extent }));',
    replace: 'elements: Math.min(extent, 1) }));',
    breaks: "An epilogue that reads beyond its input's allocation is accepted.",
  },
  {
    file: opsEpilogue,
    find: '  if (kernel.hasRows) throw',
    replace: '  if (kernel.hasRows && kernel.nodes.length > 64) throw',
    breaks: 'An epilogue that folds is accepted.',
  },
  {
    file: kernelCheckRun,
    find: '    id: ++lastId,',
    replace: '    id: lastId,',
    breaks: 'Two runs have one identity: the plan of one is used for the other.',
  },
  {
    file: kernelCheckRun,
    find: '    if (stride <= reach) return false;',
    replace: '    if (stride < reach) return false;',
    breaks: 'Outputs whose elements coincide are accepted.',
  },
  {
    file: kernelCheckRun,
    find: 'checkedExtent(what, last + 1);',
    replace: 'checkedExtent(what, Math.max(1, last));',
    breaks: 'The extent of a strided operand is one element short.',
  },
  {
    file: kernelCheckRun,
    find: '    if (size > 1) strides[axis] = elements;',
    replace: '    if (size > 1) strides[axis] = elements === 1 ? 1 : shape[axis + 1] as number;',
    breaks: 'Dense strides are those of the last axis first.',
  },
  {
    file: kernelSameRun,
    find: '  addList(key, view.strides);\n',
    replace: '',
    breaks: 'A call that differs in the strides of an operand gets the geometry of another.',
  },
  {
    file: listMap,
    find: '    if (isSame(entry.key, key)) return entry.value;',
    replace: '    return entry.value;',
    breaks: 'A call that shares its hash with another gets the plan of that.',
  },
  {
    file: readCall,
    find: '      key.push(epilogue.kernel);\n',
    replace: '',
    breaks: 'A gemm with another epilogue runs with the one of the call before.',
  },
  {
    file: readCall,
    find: '      for (const view of epilogue.inputs.views) addView(key, view);\n',
    replace: '',
    breaks: 'A gemm whose epilogue reads in other strides runs with those of the call before.',
  },
  {
    file: readCall,
    find: "    if (typeof value !== 'object' || value === null) key.push(value);",
    replace:
      "    if (typeof value === 'boolean') continue;\n    if (typeof value !== 'object' || value === null) key.push(value);",
    breaks: 'A call that differs in a boolean runs with the plan of the call before.',
  },
  {
    file: readCall,
    find: "    if (field !== 'ptr') addList(key, copy[field]);",
    replace: "    if (field !== 'ptr') key.push(undefined);",
    breaks: 'A call with other strides runs with the plan of the call before.',
  },
  {
    file: readCall,
    find: '  key.push(lacking);\n',
    replace: '',
    breaks: 'An epilogue or mask without its pointer is accepted where a call like it was made before.',
  },
  {
    file: callPlan,
    find: 'params: constants.length === 0 ? params : [...params, ...constants],',
    replace: 'params,',
    breaks: 'A product with k = 0 scales C by a parameter that is not there.',
  },
  {
    file: baseBackend,
    find: "      // The caller's getters may have done anything; from here on none of them is called.\n      this.assertUsable(op);\n",
    replace: '',
    breaks: 'A getter of a call that disposes the backend has it launched on a device that is gone.',
  },
  {
    file: launchPlans,
    find: 'byteOffset - (operands[first] as Operand<Buffer>).byteOffset;',
    replace: '0;',
    breaks: 'A call whose operands lie otherwise in one buffer runs with the plan of the call before.',
  },
  {
    file: launchPlans,
    find: '? byteOffset % alignment',
    replace: '? 0',
    breaks: 'A call with another alignment runs with the plan of the call before.',
  },
  {
    file: launchPlans,
    find: '      preferences?.forced === known?.forced &&',
    replace: '',
    breaks: 'A variant that is forced after the first call is not used.',
  },
];
