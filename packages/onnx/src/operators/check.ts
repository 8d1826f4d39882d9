import { kindOf, nodeText, unsupported } from '../errors.ts';
import { type Attribute, type Graph, graphsOf, type Node } from '../graph/graph.ts';
import { operatorOf } from '../run/execute.ts';

const WINDOW = 'auto_pad kernel_shape pads strides';
const RECURRENT = 'activation_alpha activation_beta activations clip direction hidden_size layout>=14';

/**
 * The attributes of operators. `name<13` and `name>=13` are of those operator sets alone; `name=1` changes nothing with that
 * value and is not supported with another. What training alone has, and what tells how exactly to compute, is not read.
 */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  'ArgMax ArgMin': 'axis keepdims select_last_index>=12',
  Attention:
    'is_causal kv_num_heads left_window_size>=25 q_num_heads qk_matmul_output_mode right_window_size>=25 scale softcap softmax_precision',
  AveragePool: `${WINDOW} ceil_mode>=10 count_include_pad dilations>=19`,
  BatchNormalization: 'epsilon momentum spatial<9 training_mode>=14',
  Bernoulli: 'dtype seed',
  BitShift: 'direction',
  'BlackmanWindow HammingWindow HannWindow': 'output_datatype periodic',
  Cast: 'to round_mode>=24 saturate>=19',
  CastLike: 'round_mode>=24 saturate>=19',
  CausalConvWithState: 'activation',
  'Celu Elu LeakyRelu Swish SwiGLU ThresholdedRelu': 'alpha',
  'CenterCropPad MeanVarianceNormalization': 'axes',
  Clip: 'max<11 min<11',
  'Compress Concat Flatten Gather GatherElements Hardmax LogSoftmax OneHot Scatter Softmax': 'axis',
  ConstantOfShape: 'value',
  'Conv ConvInteger QLinearConv': `${WINDOW} dilations group`,
  ConvTranspose: `${WINDOW} dilations group output_padding output_shape`,
  'CumProd CumSum': 'exclusive reverse',
  DepthToSpace: 'blocksize mode>=11',
  DequantizeLinear: 'axis>=13 block_size>=21 output_dtype>=23',
  Dropout: 'ratio<12 seed>=12',
  Einsum: 'equation',
  EyeLike: 'dtype k',
  GatherND: 'batch_dims>=12',
  Gelu: 'approximate',
  Gemm: 'alpha beta transA transB',
  GlobalLpPool: 'p',
  GridSample: 'align_corners mode padding_mode',
  GroupNormalization: 'epsilon num_groups stash_type=1',
  GRU: `${RECURRENT} linear_before_reset`,
  HardSigmoid: 'alpha beta',
  If: 'else_branch then_branch',
  InstanceNormalization: 'epsilon',
  IsInf: 'detect_negative detect_positive',
  'LayerNormalization RMSNormalization SimplifiedLayerNormalization': 'axis epsilon stash_type=1',
  Loop: 'body',
  LpNormalization: 'axis p',
  LpPool: `${WINDOW} ceil_mode>=18 dilations>=18 p`,
  LRN: 'alpha beta bias size',
  LSTM: `${RECURRENT} input_forget`,
  MaxPool: `${WINDOW} ceil_mode>=10 dilations>=10 storage_order>=8`,
  MaxUnpool: 'kernel_shape pads strides',
  Mod: 'fmod',
  'NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss': 'ignore_index reduction',
  NonMaxSuppression: 'center_point_box',
  Pad: 'mode pads<11 value<11',
  QuantizeLinear: 'axis>=13 block_size>=21 output_dtype>=21 precision>=23 saturate>=19',
  RandomNormal: 'dtype mean scale seed shape',
  RandomNormalLike: 'dtype mean scale seed',
  RandomUniform: 'dtype high low seed shape',
  RandomUniformLike: 'dtype high low seed',
  Range: 'stash_type=1',
  'ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare':
    'axes<18 keepdims noop_with_empty_axes>=18',
  ReduceSum: 'axes<13 keepdims noop_with_empty_axes>=13',
  Reshape: 'allowzero>=14',
  Resize:
    'antialias>=18 axes>=18 coordinate_transformation_mode>=11 cubic_coeff_a>=11 exclude_outside>=11 extrapolation_value>=11 keep_aspect_ratio_policy>=18 mode nearest_mode>=11',
  ReverseSequence: 'batch_axis time_axis',
  RNN: RECURRENT,
  RotaryEmbedding: 'interleaved num_heads rotary_embedding_dim',
  Scan: 'body num_scan_inputs scan_input_axes>=9 scan_input_directions>=9 scan_output_axes>=9 scan_output_directions>=9',
  ScatterElements: 'axis reduction>=16',
  ScatterND: 'reduction>=16',
  Selu: 'alpha gamma',
  Shape: 'end>=15 start>=15',
  Shrink: 'bias lambd',
  Slice: 'axes<10 ends<10 starts<10',
  SpaceToDepth: 'blocksize mode>=28',
  Split: 'axis num_outputs>=18 split<13',
  'Squeeze Unsqueeze': 'axes<13',
  TensorScatter: 'axis mode',
  TopK: 'axis k<10 largest>=11 sorted>=11',
  Transpose: 'perm',
  Trilu: 'upper',
  Unique: 'axis sorted',
  Upsample: 'mode scales<9',
  'com.microsoft.Attention':
    'do_rotary mask_filter_value num_heads past_present_share_buffer=0 qkv_hidden_sizes rotary_embedding_dim scale unidirectional',
  'com.microsoft.DequantizeLinear com.microsoft.QuantizeLinear': 'axis block_size',
  'com.microsoft.FusedConv': `${WINDOW} activation activation_params dilations group`,
  'com.microsoft.FusedMatMul': 'alpha transA transB transBatchA transBatchB',
  'com.microsoft.GatherBlockQuantized': 'bits block_size gather_axis quantize_axis',
  'com.microsoft.GroupQueryAttention':
    'causal=1 do_rotary k_quant_type kv_cache_bit_width kv_num_heads local_window_size num_heads qk_norm_epsilon qk_output rotary_interleaved scale sliding_window_cache=0 smooth_softmax softcap v_quant_type',
  'com.microsoft.MatMulNBits': 'K N accuracy_level bits block_size weight_prepacked=0',
  'com.microsoft.MultiHeadAttention': 'mask_filter_value num_heads scale unidirectional',
  'com.microsoft.QLinearLeakyRelu com.microsoft.QuickGelu': 'alpha',
  'com.microsoft.RotaryEmbedding': 'interleaved is_packed_batching num_heads rotary_embedding_dim scale=1',
  'com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization': 'epsilon',
};

/** Whether an attribute of an operator set has a value that is supported. */
type Test = (version: number, value: Attribute) => boolean;

const known = new Map<string, ReadonlyMap<string, Test>>(
  Object.entries(ATTRIBUTES).flatMap(([operators, attributes]) => {
    const tests = new Map(attributes.split(' ').map(testOf));
    return operators.split(' ').map((operator) => [operator, tests] as const);
  }),
);

function testOf(text: string): [string, Test] {
  const [, name = '', sign, number] = /^(\w+)(?:(<|>=|=)(\d+))?$/.exec(text) ?? [];
  const limit = Number(number);
  if (sign === '<') return [name, (version) => version < limit];
  if (sign === '>=') return [name, (version) => version >= limit];
  return [name, (_, value) => sign === undefined || Number(value) === limit];
}

/** A name of before operator set 7, of which later files may have it: what may be overwritten. */
const CHANGES_NOTHING = 'consumed_inputs';

/**
 * Refuses a graph with unknown operators, or unknown attributes of known ones.
 *
 * @throws {BackendError} UNSUPPORTED with the first such node, and the names of all operators that are missing, or the attribute
 */
export function checkOperators(graph: Graph): void {
  const nodes = nodesOf(graph);
  const missing = nodes.filter((node) => operatorOf(node) === undefined);
  if (missing[0] !== undefined) {
    const names = [...new Set(missing.map(kindOf))].join(', ');
    throw unsupported(`node ${nodeText(missing[0])} is of an operator that is not supported; missing are ${names}`);
  }
  for (const node of nodes) {
    const tests = known.get(kindOf(node));
    for (const [name, value] of node.attributes) {
      if (name === CHANGES_NOTHING || tests?.get(name)?.(node.version, value) === true) continue;
      const given = typeof value === 'object' ? '' : ` = ${value}`;
      throw unsupported(
        `node ${nodeText(node)} has the attribute ${name}${given}, which is not supported in operator set ${node.version}`,
      );
    }
  }
}

function nodesOf({ nodes }: Graph): Node[] {
  return nodes.flatMap((node) => [node, ...graphsOf(node).flatMap(nodesOf)]);
}
