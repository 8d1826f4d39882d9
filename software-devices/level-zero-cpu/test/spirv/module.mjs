// @ts-check
// Writes small modules as assembly text: types, constants and built-in variables are declared as the text mentions them.

/**
 * @typedef {object} ModuleText
 * @property {string} body instructions of the kernel, between its label and OpReturn
 * @property {string[]} parameters types of the kernel's parameters, named %p0, %p1, ...
 * @property {string} [declare] own module-level instructions (types, constants, variables)
 * @property {string} [functions] further functions
 * @property {string} [variables] Function variables of the kernel
 * @property {string} [decorate] decorations
 * @property {string} [modes] execution modes
 * @property {string[]} [capabilities] in addition to the usual ones
 * @property {string[]} [extensions]
 */

const CAPABILITIES = ['Addresses', 'Kernel', 'Linkage', 'Vector16', 'Int8', 'Int16', 'Int64', 'Float64', 'Float16'];

const STORAGE = {
  f: 'Function',
  w: 'Workgroup',
  g: 'CrossWorkgroup',
  i: 'Input',
  c: 'UniformConstant',
  x: 'Generic',
};

const builtinType = (/** @type {string} */ name) => {
  if (/Linear|Index/.test(name)) return 'i64';
  return /Subgroup|WorkDim/.test(name) ? 'i32' : 'v3i64';
};

/** Declarations in the order in which they are needed. */
class Declarations {
  /** @type {Map<string, string>} */
  lines = new Map();
  /** @type {string[]} */
  builtins = [];

  /** @param {string} id without its % @param {string} text */
  add(id, text) {
    if (!this.lines.has(id)) this.lines.set(id, `%${id} = ${text}`);
  }

  /** Declares the type of a name such as i32, v4f32, a16_f32 or pf_v2i8; false for other names. @param {string} id */
  type(id) {
    const number = /^([if])(8|16|32|64)$/.exec(id);
    const vector = /^v(2|3|4|8|16)(\w+)$/.exec(id);
    const array = /^a(\d+)_(\w+)$/.exec(id);
    const pointer = /^p([fwgicx])_(\w+)$/.exec(id);
    if (this.lines.has(id)) return true;
    if (id === 'void') this.add(id, 'OpTypeVoid');
    else if (id === 'bool') this.add(id, 'OpTypeBool');
    else if (number) this.add(id, number[1] === 'i' ? `OpTypeInt ${number[2]} 0` : `OpTypeFloat ${number[2]}`);
    else if (vector?.[2] && this.type(vector[2])) this.add(id, `OpTypeVector %${vector[2]} ${vector[1]}`);
    else if (array?.[2] && this.type(array[2]))
      this.add(id, `OpTypeArray %${array[2]} ${this.constant('i32', array[1] ?? '')}`);
    else if (pointer?.[1] && pointer[2] && this.pointee(pointer[2]))
      this.add(id, `OpTypePointer ${STORAGE[/** @type {keyof typeof STORAGE} */ (pointer[1])]} %${pointer[2]}`);
    else return false;
    return true;
  }

  /** @param {string} id */
  pointee(id) {
    return this.type(id) || this.lines.has(id);
  }

  /** @param {string} type @param {string} value @returns {string} the id, with its % */
  constant(type, value) {
    this.type(type);
    const bits = Number(type.slice(1));
    const literal = type.startsWith('i') ? BigInt.asUintN(bits, BigInt(value)).toString() : value;
    const id = `constant_${type}_${literal.replaceAll(/\W/g, '_')}`;
    this.add(id, `OpConstant %${type} ${literal}`);
    return `%${id}`;
  }

  /** @param {string} name */
  builtin(name) {
    const type = builtinType(name);
    this.type(`pi_${type}`);
    this.add(`builtin_${name}`, `OpVariable %pi_${type} Input`);
    if (!this.builtins.includes(name)) this.builtins.push(name);
  }

  /** Declares what a text mentions, and gives it back with #type:value in place as ids. @param {string} text */
  mentioned(text) {
    const written = text.replaceAll(/#(\w+):([-+.\w]+)/g, (_, type, value) => this.constant(type, value));
    for (const [, id = ''] of written.matchAll(/%(\w+)/g)) {
      const builtin = /^builtin_(\w+)$/.exec(id);
      if (builtin?.[1]) this.builtin(builtin[1]);
      else this.type(id);
    }
    return written;
  }
}

/** Assembly text of a module with one kernel, "main". @param {ModuleText} text */
export function moduleText(text) {
  const all = new Declarations();
  // One line at a time, as a line may use what the lines before declare.
  for (const line of (text.declare ?? '').split('\n')) {
    const written = all.mentioned(line.replace(/^\s*%\w+ =/, '')).trim();
    const id = /^\s*%(\w+) =/.exec(line)?.[1];
    if (id && written) all.add(id, written);
  }
  all.mentioned(`%void ${text.parameters.map((type) => `%${type}`).join(' ')}`);
  const functions = all.mentioned(text.functions ?? '');
  const variables = all.mentioned(text.variables ?? '');
  const body = all.mentioned(text.body);
  const builtins = all.builtins.map((name) => `%builtin_${name}`).join(' ');
  return [
    ...[...CAPABILITIES, ...(text.capabilities ?? [])].map((name) => `OpCapability ${name}`),
    ...(text.extensions ?? []).map((name) => `OpExtension "${name}"`),
    '%opencl = OpExtInstImport "OpenCL.std"',
    'OpMemoryModel Physical64 OpenCL',
    `OpEntryPoint Kernel %main "main" ${builtins}`,
    text.modes ?? '',
    ...all.builtins.map((name) => `OpDecorate %builtin_${name} BuiltIn ${name}`),
    text.decorate ?? '',
    ...all.lines.values(),
    `%main_type = OpTypeFunction %void ${text.parameters.map((type) => `%${type}`).join(' ')}`,
    functions,
    '%main = OpFunction %void None %main_type',
    ...text.parameters.map((type, at) => `%p${at} = OpFunctionParameter %${type}`),
    '%start = OpLabel',
    variables,
    body,
    'OpReturn',
    'OpFunctionEnd',
  ].join('\n');
}

const FIRST = `%gid3 = OpLoad %v3i64 %builtin_GlobalInvocationId
      %gid = OpCompositeExtract %i64 %gid3 0`;
const LINEAR = '%gid = OpLoad %i64 %builtin_GlobalLinearId';

/**
 * A body that reads element GlobalInvocationId.x of %p0 as %x, and stores %y to %p1 there.
 *
 * @param {string} from
 * @param {string} to
 * @param {string} body
 * @param {boolean} linear counts items of all dimensions
 */
export function perItem(from, to, body, linear = false) {
  return {
    parameters: [`pg_${from}`, `pg_${to}`],
    body: `
      ${linear ? LINEAR : FIRST}
      %from = OpInBoundsPtrAccessChain %pg_${from} %p0 %gid
      %to = OpInBoundsPtrAccessChain %pg_${to} %p1 %gid
      %x = OpLoad %${from} %from Aligned ${alignment(from)}
      ${body}
      OpStore %to %y Aligned ${alignment(to)}`,
  };
}

function alignment(/** @type {string} */ type) {
  const [, lanes = '1', bits = '8'] = /^(?:v(\d+))?[if](\d+)$/.exec(type) ?? [];
  return (Number(bits) / 8) * (lanes === '3' ? 4 : Number(lanes));
}
