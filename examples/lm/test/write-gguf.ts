import { f32ToF16Bits } from '@concord/backend-core';

/** Of a tensor in a file: sizes as ours, the last runs fastest. */
export interface GgufTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: number;
  readonly bytes: Uint8Array;
}

type Value = number | boolean | string | readonly string[] | readonly number[];

const text = new TextEncoder();
const number = (bytes: number, set: (view: DataView) => void): Uint8Array => {
  const view = new DataView(new ArrayBuffer(bytes));
  set(view);
  return new Uint8Array(view.buffer);
};
const u32 = (value: number): Uint8Array => number(4, (view) => view.setUint32(0, value, true));
const u64 = (value: number): Uint8Array => number(8, (view) => view.setBigUint64(0, BigInt(value), true));
const f32 = (value: number): Uint8Array => number(4, (view) => view.setFloat32(0, value, true));
const string = (value: string): Uint8Array => joined([u64(text.encode(value).length), text.encode(value)]);

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Names of numbers that llama.cpp wants as f32, all others as integers of 32 bits. */
const IS_FLOAT = /freq_base$|epsilon$|scores$/;

function valueOf(name: string, value: Value): Uint8Array {
  if (typeof value === 'string') return joined([u32(8), string(value)]);
  if (typeof value === 'boolean') return joined([u32(7), Uint8Array.of(Number(value))]);
  if (typeof value === 'number') return joined(IS_FLOAT.test(name) ? [u32(6), f32(value)] : [u32(4), u32(value)]);
  const [type, each] = typeof value[0] === 'string' ? [8, string] : IS_FLOAT.test(name) ? [6, f32] : [5, u32];
  return joined([u32(9), u32(type), u64(value.length), ...value.map((own) => each(own as never))]);
}

/** A GGUF file of version 3. */
export function writeGguf(metadata: Readonly<Record<string, Value>>, tensors: readonly GgufTensor[]): Uint8Array {
  const entries = Object.entries(metadata).map(([name, value]) => joined([string(name), valueOf(name, value)]));
  let offset = 0;
  const infos = tensors.map(({ name, shape, type, bytes }) => {
    const at = offset;
    offset += Math.ceil(bytes.length / 32) * 32;
    return joined([string(name), u32(shape.length), ...[...shape].reverse().map(u64), u32(type), u64(at)]);
  });
  const head = joined([text.encode('GGUF'), u32(3), u64(tensors.length), u64(entries.length), ...entries, ...infos]);
  const padded = (bytes: Uint8Array): Uint8Array => joined([bytes, new Uint8Array(-bytes.length & 31)]);
  return joined([padded(head), ...tensors.map(({ bytes }) => padded(bytes))]);
}

/** Rows in blocks of 32 with a float16 scale, as ggml rounds them: q8_0, or q4_0, whose codes are 0 to 15 around 8. */
export function ggmlBlocks(values: Float32Array, bits: 8 | 4): Uint8Array {
  return joined(
    Array.from({ length: values.length / 32 }, (_, block) => {
      const own = values.subarray(32 * block, 32 * block + 32);
      const largest = own.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most), 0);
      const scale = bits === 8 ? Math.abs(largest) / 127 : largest / -8;
      const half = number(2, (view) => view.setUint16(0, f32ToF16Bits(scale), true));
      const codes = [...own].map((each) => (scale === 0 ? 0 : each / scale));
      if (bits === 8) return joined([half, Uint8Array.from(codes, (code) => Math.round(code) & 255)]);
      const nibbles = codes.map((code) => Math.min(15, Math.floor(code + 8.5)));
      return joined([
        half,
        Uint8Array.from({ length: 16 }, (__, i) => (nibbles[i] as number) | ((nibbles[i + 16] as number) << 4)),
      ]);
    }),
  );
}
