// Floating-point numbers as spirv-dis prints and spirv-as reads them.

/** An IEEE 754 binary format by the widths of its fields. */
export interface FloatFormat {
  readonly exponentBits: number;
  readonly fractionBits: number;
}

/** The formats by their width in bits. */
export const floatFormats: Readonly<Record<number, FloatFormat>> = {
  16: { exponentBits: 5, fractionBits: 10 },
  32: { exponentBits: 8, fractionBits: 23 },
  64: { exponentBits: 11, fractionBits: 52 },
};

const DIGITS: Readonly<Record<number, number>> = { 32: 9, 64: 17 };

/** Zeros and normal numbers of 32 and 64 bits in decimal, everything else in hexadecimal. Both are exact. */
export function formatFloat(bits: bigint, width: number): string {
  const { exponentBits, fractionBits } = floatFormats[width]!;
  const exponent = (bits >> BigInt(fractionBits)) & mask(exponentBits);
  const fraction = bits & mask(fractionBits);
  const isPlain = exponent === 0n ? fraction === 0n : exponent !== mask(exponentBits);
  const digits = DIGITS[width];
  return isPlain && digits !== undefined ? formatDecimal(bits, width, digits) : formatHex(bits, width);
}

/** What "%.<digits>g" prints in C: rounded to even from the exact value, which JavaScript's own formatting does not do. */
function formatDecimal(bits: bigint, width: number, digits: number): string {
  const sign = bits >> BigInt(width - 1) === 1n ? '-' : '';
  const { mantissa, exponent } = split(bits, width);
  if (mantissa === 0n) return `${sign}0`;
  // Powers of two are exact in decimal: 2^-n is 5^n / 10^n.
  const exact = exponent < 0 ? mantissa * 5n ** BigInt(-exponent) : mantissa << BigInt(exponent);
  const dropped = Math.max(exact.toString().length - digits, 0);
  const text = roundToEven(exact, 10n ** BigInt(dropped)).toString();
  const power = text.length - 1 + dropped + Math.min(exponent, 0);
  const significant = text.replace(/0+$/, '');
  if (power < -4 || power >= digits) {
    const powerText = `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
    return `${sign}${withPoint(significant, 1)}e${powerText}`;
  }
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${significant}`;
  return sign + withPoint(significant.padEnd(power + 1, '0'), power + 1);
}

function roundToEven(value: bigint, divisor: bigint): bigint {
  const kept = value / divisor;
  const twice = (value % divisor) * 2n;
  return twice > divisor || (twice === divisor && kept % 2n === 1n) ? kept + 1n : kept;
}

const withPoint = (digits: string, at: number): string =>
  digits.length > at ? `${digits.slice(0, at)}.${digits.slice(at)}` : digits;

function formatHex(bits: bigint, width: number): string {
  const { exponentBits, fractionBits } = floatFormats[width]!;
  const bias = 2 ** (exponentBits - 1) - 1;
  let exponent = Number((bits >> BigInt(fractionBits)) & mask(exponentBits)) - bias;
  let fraction = bits & mask(fractionBits);
  const sign = bits >> BigInt(width - 1) === 1n ? '-' : '';
  if (exponent === -bias) {
    if (fraction === 0n) return `${sign}0x0p+0`;
    // A denormal has no leading one of its own: shift until it has, and drop that one.
    exponent += 1;
    while (fraction >> BigInt(fractionBits) === 0n) {
      fraction <<= 1n;
      exponent -= 1;
    }
    fraction &= mask(fractionBits);
  }
  const nibbles = Math.ceil(fractionBits / 4);
  const hex = (fraction << BigInt(nibbles * 4 - fractionBits)).toString(16).padStart(nibbles, '0').replace(/0+$/, '');
  return `${sign}0x1${hex === '' ? '' : `.${hex}`}p${exponent >= 0 ? '+' : ''}${exponent}`;
}

/** The bits of a number in text; undefined when it is none or does not fit. */
export function parseFloatBits(text: string, width: number): bigint | undefined {
  const hex = /^(-?)0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?\d{1,6})$/i.exec(text);
  if (hex) {
    const [, sign, whole = '', part = '', power] = hex;
    if (whole + part === '') return undefined;
    return encode(sign === '-', BigInt(`0x${whole}${part}`), Number(power) - 4 * part.length, width);
  }
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  if (width === 64) return Number.isFinite(value) ? fromNumber(value, 64) : undefined;
  const single = fromNumber(value, 32);
  if (width === 32) return Number.isFinite(Math.fround(value)) ? single : undefined;
  // Towards zero, as spirv-as does; 65536 and beyond do not fit.
  if (Math.abs(Math.fround(value)) >= 65536) return undefined;
  const { exponent, mantissa } = split(single, 32);
  return encode(single >> 31n === 1n, mantissa, exponent, width);
}

/** The mantissa as an integer, and the power of two that it is multiplied with. */
function split(bits: bigint, width: number): { exponent: number; mantissa: bigint } {
  const { exponentBits, fractionBits } = floatFormats[width]!;
  const field = Number((bits >> BigInt(fractionBits)) & mask(exponentBits));
  const lead = field === 0 ? 0n : 1n << BigInt(fractionBits);
  const bias = 2 ** (exponentBits - 1) - 1;
  return { exponent: Math.max(field, 1) - bias - fractionBits, mantissa: lead | (bits & mask(fractionBits)) };
}

/** Bits that the format has no room for are dropped; the exponent of infinity keeps the fraction (a NaN). */
function encode(isNegative: boolean, mantissa: bigint, power: number, width: number): bigint {
  const { exponentBits, fractionBits } = floatFormats[width]!;
  const sign = isNegative ? 1n << BigInt(width - 1) : 0n;
  if (mantissa === 0n) return sign;
  const bias = 2 ** (exponentBits - 1) - 1;
  const exponent = power + mantissa.toString(2).length - 1;
  if (exponent > bias + 1) return sign | (mask(exponentBits) << BigInt(fractionBits));
  const isNormal = exponent >= 1 - bias;
  const fraction = shift(mantissa, power + fractionBits - (isNormal ? exponent : 1 - bias));
  if (!isNormal) return sign | fraction;
  return sign | (BigInt(exponent + bias) << BigInt(fractionBits)) | (fraction & mask(fractionBits));
}

const shift = (value: bigint, by: number): bigint => (by >= 0 ? value << BigInt(by) : value >> BigInt(-by));

const mask = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

function fromNumber(value: number, width: 32 | 64): bigint {
  const view = new DataView(new ArrayBuffer(8));
  if (width === 32) view.setFloat32(0, value);
  else view.setFloat64(0, value);
  return width === 32 ? BigInt(view.getUint32(0)) : view.getBigUint64(0);
}
