// @ts-check
// Numbers as the bytes that kernels see.

const WRITE = {
  i8: 'setInt8',
  i16: 'setInt16',
  i32: 'setInt32',
  u8: 'setUint8',
  u16: 'setUint16',
  u32: 'setUint32',
  f16: 'setUint16',
  f32: 'setFloat32',
  f64: 'setFloat64',
};

/** Element type and element count of a type such as v3f32; a vector of 3 takes the room of 4. */
const partsOf = (/** @type {string} */ type) => {
  const [, lanes = '1', element = 'i32'] = /^(?:v(\d+))?(\w+)$/.exec(type) ?? [];
  return { lanes: Number(lanes), element, bytes: Number(element.slice(1)) / 8 };
};

/** Bytes of one value of a type. @param {string} type */
export const bytesOf = (type) => {
  const { lanes, bytes } = partsOf(type);
  return bytes * (lanes === 3 ? 4 : lanes);
};

/** @param {string} type such as f32, u8, i64 or v3f32 @param {readonly (number | bigint)[]} values @returns {string} hexadecimal */
export function encode(type, values) {
  const { lanes, element, bytes } = partsOf(type);
  const view = new DataView(new ArrayBuffer((values.length / lanes) * bytesOf(type)));
  values.forEach((value, at) => {
    const place = Math.floor(at / lanes) * bytesOf(type) + (at % lanes) * bytes;
    if (bytes === 8 && !element.startsWith('f')) view.setBigInt64(place, BigInt.asIntN(64, BigInt(value)), true);
    else if (element === 'f16') view.setUint16(place, toHalf(Number(value)), true);
    else if (element === 'u8' || element === 'i8') view.setInt8(place, Number(value));
    else view[/** @type {'setInt32'} */ (WRITE[/** @type {'i32'} */ (element)])](place, Number(value), true);
  });
  return Buffer.from(view.buffer).toString('hex');
}

/** @param {string} type @param {string} hex @returns {(number | bigint)[]} */
export function decode(type, hex) {
  const { lanes, element, bytes } = partsOf(type);
  const view = new DataView(Uint8Array.from(Buffer.from(hex, 'hex')).buffer);
  /** @type {(number | bigint)[]} */
  const values = [];
  for (let place = 0; place + bytesOf(type) <= view.byteLength; place += bytesOf(type))
    for (let lane = 0; lane < lanes; lane++) values.push(read(view, element, place + lane * bytes));
  return values;
}

function read(/** @type {DataView} */ view, /** @type {string} */ element, /** @type {number} */ at) {
  if (element === 'i64') return view.getBigInt64(at, true);
  if (element === 'u64') return view.getBigUint64(at, true);
  if (element === 'f16') return fromHalf(view.getUint16(at, true));
  if (element === 'i8') return view.getInt8(at);
  if (element === 'u8') return view.getUint8(at);
  const name = /** @type {'i32'} */ (element);
  return view[/** @type {'getInt32'} */ (WRITE[name].replace('set', 'get'))](at, true);
}

/** @param {number} bits */
export function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The nearest half, ties to even. @param {number} value */
export function toHalf(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(size || 2 ** -24)));
  const scaled = size / 2 ** (exponent - 10);
  const floor = Math.floor(scaled);
  const up = scaled - floor > 0.5 || (scaled - floor === 0.5 && floor % 2 === 1);
  const units = floor + (up ? 1 : 0);
  // A carry out of the fraction moves into the exponent by itself.
  return sign | (exponent === -14 && units < 1024 ? units : ((exponent + 14) << 10) + units);
}
