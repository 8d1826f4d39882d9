import type { ValueType } from '@concord/backend-core/kernel';

const MIN_NORMAL = 0x0080_0000;
const INFINITY = 0x7f80_0000;

/**
 * A WGSL expression for a constant. WGSL has no literal of NaN and the infinities, and compilers fold 0 and flush
 * subnormals: those are bits joined with the uniform that is always 0.
 */
export function constantText(type: ValueType, bits: number): string {
  if (type === 'bool') return bits === 0 ? 'false' : 'true';
  if (type === 'u32') return `${bits >>> 0}u`;
  // There is no literal of -2^31: a minus is an operator.
  if (type === 'i32') return (bits | 0) === -(2 ** 31) ? 'i32(-2147483648)' : `i32(${bits | 0})`;
  const magnitude = bits & 0x7fff_ffff;
  if (magnitude < MIN_NORMAL || magnitude >= INFINITY) {
    return `bitcast<f32>(u.zero ^ 0x${(bits >>> 0).toString(16).padStart(8, '0')}u)`;
  }
  const value = new Float32Array(new Uint32Array([bits]).buffer)[0] as number;
  const text = String(value);
  return `f32(${/[.e]/.test(text) ? text : `${text}.0`})`;
}
