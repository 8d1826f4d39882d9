import { kindOf, nodeText, refuse, unsupported } from '../errors.ts';
import { type Attribute, type Graph, graphsOf, type Node } from '../graph/graph.ts';
import { operatorOf } from '../run/execute.ts';

const WINDOW = 'auto_pad kernel_shape pads strides';
const RECURRENT = 'activation_alpha activation_beta activations clip direction hidden_size layout>=14';

/**
 * The number of inputs of operators, 1 where it is left out, and their attributes. `name<13` and `name>=13` are of those operator
 * sets alone, as are `1<13` and the number after it; `!4` is an input that is not read, `name=1` an attribute that changes nothing
 * with that value. What is not read is not supported. What training alone has, and what tells how exactly to compute, is not read.
 */
const SIGNATURES: Readonly<Record<string, string>> = {
  'Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Expand Greater GreaterOrEqual Less LessOrEqual MatMul Mul Or PRelu Pow Sub Tile Xor':
    '2',
  'ArgMax ArgMin': 'axis keepdims select_last_index>=12',
  Attention:
    '3-6<24 3-7 is_causal kv_num_heads left_window_size>=25 q_num_heads qk_matmul_output_mode right_window_size>=25 scale softcap softmax_precision',
  AveragePool: `${WINDOW} ceil_mode>=10 count_include_pad dilations>=19`,
  BatchNormalization: '5 epsilon momentum spatial<9 training_mode>=14',
  Bernoulli: 'dtype seed',
  BitShift: '2 direction',
  'BlackmanWindow HammingWindow HannWindow': 'output_datatype periodic',
  Cast: 'to round_mode>=24 saturate>=19',
  CastLike: '2 round_mode>=24 saturate>=19',
  CausalConvWithState: '2-4 activation',
  'Celu Elu LeakyRelu Swish ThresholdedRelu': 'alpha',
  CenterCropPad: '2 axes',
  Clip: '1<11 1-3 max<11 min<11',
  'Compress Gather GatherElements': '2 axis',
  Concat: '1-* axis',
  ConstantOfShape: 'value',
  Conv: `2-3 ${WINDOW} dilations group`,
  ConvInteger: `2-4 ${WINDOW} dilations group`,
  ConvTranspose: `2-3 ${WINDOW} dilations group output_padding output_shape`,
  'CumProd CumSum': '2 exclusive reverse',
  DepthToSpace: 'blocksize mode>=11',
  DequantizeLinear: '2-3 axis>=13 block_size>=21 output_dtype>=23',
  DFT: '1-2<20 1-3 axis<20 inverse onesided',
  Dropout: '1<12 1-3 ratio<12 seed>=12',
  Einsum: '1-* equation',
  EyeLike: 'dtype k',
  'Flatten Hardmax LogSoftmax Softmax': 'axis',
  GatherND: '2 batch_dims>=12',
  Gelu: 'approximate',
  Gemm: '2-3 alpha beta transA transB',
  GlobalLpPool: 'p',
  GridSample: '2 align_corners mode padding_mode',
  GroupNormalization: '3 epsilon num_groups stash_type=1',
  GRU: `3-6 ${RECURRENT} linear_before_reset`,
  HardSigmoid: 'alpha beta',
  If: 'else_branch then_branch',
  InstanceNormalization: '3 epsilon',
  IsInf: 'detect_negative detect_positive',
  LayerNormalization: '2-3 axis epsilon stash_type=1',
  Loop: '2-* body',
  LpNormalization: 'axis p',
  LpPool: `${WINDOW} ceil_mode>=18 dilations>=18 p`,
  LRN: 'alpha beta bias size',
  LSTM: `3-8 ${RECURRENT} input_forget`,
  MatMulInteger: '2-4',
  'Max Mean Min Sum': '1-*',
  MaxPool: `${WINDOW} ceil_mode>=10 dilations>=10 storage_order>=8`,
  MaxUnpool: '2 kernel_shape pads strides',
  MeanVarianceNormalization: 'axes',
  MelWeightMatrix: '5 output_datatype',
  Mod: '2 fmod',
  'NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss': '2-3 ignore_index reduction',
  NonMaxSuppression: '2-5 center_point_box',
  'OneHot Scatter': '3 axis',
  Pad: '1<11 2-3<18 2-4 mode pads<11 value<11',
  QLinearConv: `8-9 ${WINDOW} dilations group`,
  QLinearMatMul: '8',
  QuantizeLinear: '2-3 axis>=13 block_size>=21 output_dtype>=21 precision>=23 saturate>=19',
  RandomNormal: '0 dtype mean scale seed shape',
  RandomNormalLike: 'dtype mean scale seed',
  RandomUniform: '0 dtype high low seed shape',
  RandomUniformLike: 'dtype high low seed',
  Range: '3 stash_type=1',
  'ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare':
    '1<18 1-2 axes<18 keepdims noop_with_empty_axes>=18',
  ReduceSum: '1<13 1-2 axes<13 keepdims noop_with_empty_axes>=13',
  Reshape: '2 allowzero>=14',
  Resize:
    '2<11 1-4 antialias>=18 axes>=18 coordinate_transformation_mode>=11 cubic_coeff_a>=11 exclude_outside>=11 extrapolation_value>=11 keep_aspect_ratio_policy>=18 mode nearest_mode>=11',
  ReverseSequence: '2 batch_axis time_axis',
  'RMSNormalization SimplifiedLayerNormalization': '2 axis epsilon stash_type=1',
  RNN: `3-6 ${RECURRENT}`,
  RotaryEmbedding: '3-4 interleaved num_heads rotary_embedding_dim',
  Scan: '1-* body num_scan_inputs scan_input_axes>=9 scan_input_directions>=9 scan_output_axes>=9 scan_output_directions>=9',
  ScatterElements: '3 axis reduction>=16',
  ScatterND: '3 reduction>=16',
  Selu: 'alpha gamma',
  Shape: 'end>=15 start>=15',
  Shrink: 'bias lambd',
  Slice: '1<10 3-5 axes<10 ends<10 starts<10',
  SpaceToDepth: 'blocksize mode>=28',
  Split: '1<13 1-2 axis num_outputs>=18 split<13',
  Squeeze: '1<13 1-2 axes<13',
  STFT: '2-4 onesided',
  SwiGLU: '2 alpha',
  TensorScatter: '2-3 axis mode',
  TopK: '1<10 2 axis k<10 largest>=11 sorted>=11',
  Transpose: 'perm',
  Trilu: '1-2 upper',
  Unique: 'axis sorted',
  Unsqueeze: '1<13 2 axes<13',
  Upsample: '1<9 2 mode scales<9',
  Where: '3',
  'com.microsoft.Attention':
    '2-6 do_rotary mask_filter_value num_heads past_present_share_buffer=0 qkv_hidden_sizes rotary_embedding_dim scale unidirectional',
  'com.microsoft.BiasGelu': '2',
  'com.microsoft.DequantizeLinear com.microsoft.QuantizeLinear': '2-3 axis block_size',
  'com.microsoft.DynamicQuantizeMatMul': '3-5',
  'com.microsoft.FastGelu': '1-2',
  'com.microsoft.FusedConv': `2-4 ${WINDOW} activation activation_params dilations group`,
  'com.microsoft.FusedMatMul': '2 alpha transA transB transBatchA transBatchB',
  'com.microsoft.GatherBlockQuantized': '3-4 bits block_size gather_axis quantize_axis',
  'com.microsoft.GroupQueryAttention':
    '7-12 causal=1 do_rotary k_quant_type kv_cache_bit_width kv_num_heads local_window_size num_heads qk_norm_epsilon qk_output rotary_interleaved scale sliding_window_cache=0 smooth_softmax softcap v_quant_type',
  'com.microsoft.MatMulIntegerToFloat': '4-7',
  'com.microsoft.MatMulNBits': '3-6 !4 K N accuracy_level bits block_size weight_prepacked=0',
  'com.microsoft.MultiHeadAttention': '1-8 mask_filter_value num_heads scale unidirectional',
  'com.microsoft.QLinearAdd com.microsoft.QLinearMul': '7-8',
  'com.microsoft.QLinearLeakyRelu': '4-5 alpha',
  'com.microsoft.QLinearSigmoid': '4-5',
  'com.microsoft.QuickGelu': 'alpha',
  'com.microsoft.RotaryEmbedding': '4 interleaved is_packed_batching num_heads rotary_embedding_dim scale=1',
  'com.microsoft.SkipLayerNormalization': '3-5 epsilon',
  'com.microsoft.SkipSimplifiedLayerNormalization': '3-4 epsilon',
};

/** Whether an attribute of an operator set has a value that is supported. */
type Test = (version: number, value: Attribute) => boolean;

/** What an operator reads. */
interface Signature {
  readonly attributes: ReadonlyMap<string, Test>;
  /** How many inputs it has at least and at most, and a test of the operator set; the first that holds counts. */
  readonly inputs: readonly (readonly [least: number, most: number, test: Test])[];
  readonly unread: readonly number[];
}

const NONE: Signature = signatureOf('');

const known = new Map<string, Signature>(
  Object.entries(SIGNATURES).flatMap(([operators, text]) => {
    const signature = signatureOf(text);
    return operators.split(' ').map((operator) => [operator, signature] as const);
  }),
);

function signatureOf(text: string): Signature {
  const words = `${text} 1`.trim().split(' ').map(wordOf);
  return {
    attributes: new Map(words.filter(([name]) => /^[a-z]/i.test(name))),
    inputs: words.flatMap(([name, test]) => {
      const [, least, most = least] = /^(\d+)(?:-(\d+|\*))?$/.exec(name) ?? [];
      return least === undefined ? [] : [[Number(least), most === '*' ? Infinity : Number(most), test] as const];
    }),
    unread: words.flatMap(([name]) => (name.startsWith('!') ? [Number(name.slice(1))] : [])),
  };
}

function wordOf(text: string): [string, Test] {
  const [, name = '', sign, number] = /^([\w!*-]+)(?:(<|>=|=)(\d+))?$/.exec(text) ?? [];
  const limit = Number(number);
  if (sign === '<') return [name, (version) => version < limit];
  if (sign === '>=') return [name, (version) => version >= limit];
  return [name, (_, value) => sign === undefined || Number(value) === limit];
}

/** A name of before operator set 7, of which later files may have it: what may be overwritten. */
const CHANGES_NOTHING = 'consumed_inputs';

/**
 * Refuses a graph with unknown operators, or unknown attributes or inputs of known ones.
 *
 * @throws {BackendError} UNSUPPORTED with the first such node, and the names of all operators that are missing, or the attribute or input
 * @throws {BackendError} INVALID_ARGUMENT for a node with too few inputs
 */
export function checkOperators(graph: Graph): void {
  const nodes = nodesOf(graph);
  const missing = nodes.filter((node) => operatorOf(node) === undefined);
  if (missing[0] !== undefined) {
    const names = [...new Set(missing.map(kindOf))].join(', ');
    throw unsupported(`node ${nodeText(missing[0])} is of an operator that is not supported; missing are ${names}`);
  }
  for (const node of nodes) {
    const text = `node ${nodeText(node)}`;
    const { attributes, inputs, unread } = known.get(kindOf(node)) ?? NONE;
    for (const [name, value] of node.attributes) {
      if (name === CHANGES_NOTHING || attributes.get(name)?.(node.version, value) === true) continue;
      const given = typeof value === 'object' ? '' : ` = ${value}`;
      throw unsupported(
        `${text} has the attribute ${name}${given}, which is not supported in operator set ${node.version}`,
      );
    }
    const [least = 0, most = 0] = inputs.find(([, , test]) => test(node.version, 0)) ?? [];
    const more = node.inputs.findIndex((name, i) => name !== '' && (i >= most || unread.includes(i)));
    if (more >= 0)
      throw unsupported(`${text} has the input ${more}, which is not supported in operator set ${node.version}`);
    if (node.inputs.length < least) throw refuse(`${text} lacks the input ${node.inputs.length}`);
  }
}

function nodesOf({ nodes }: Graph): Node[] {
  return nodes.flatMap((node) => [node, ...graphsOf(node).flatMap(nodesOf)]);
}
