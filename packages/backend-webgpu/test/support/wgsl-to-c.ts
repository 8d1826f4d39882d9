import type { Kernel } from '@concord/backend-core/kernel';
import { NodeLowering } from '@concord/kernel';
import { WgslArithmetic } from '../../src/kernels/arithmetic/wgsl-arithmetic.ts';
import { WgslBlock } from '../../src/kernels/arithmetic/wgsl-block.ts';
import type { WgslValue } from '../../src/kernels/arithmetic/wgsl-block.ts';

/** WGSL's built-ins, as far as functions of float32 use them, and the words that C keeps for itself. */
const PRELUDE = `
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define f32(x) ((float)(x))
#define i32(x) ((int32_t)(x))
#define u32(x) ((uint32_t)(x))
#define select(no, yes, condition) ((condition) ? (yes) : (no))
static float f32_of(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static uint32_t bits_of(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
static uint32_t same_bits(uint32_t bits) { return bits; }
#define bitcast_f32(x) f32_of(x)
#define bitcast_u32(x) (_Generic((x), float: bits_of, default: same_bits)(x))
#define bitcast_i32(x) ((int32_t)bitcast_u32(x))
static int32_t min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
#define min(a, b) (_Generic((a), float: fminf, int32_t: min_i32, uint32_t: min_u32)(a, b))
#define max(a, b) (_Generic((a), float: fmaxf, int32_t: max_i32, uint32_t: max_u32)(a, b))
#define round rintf
#define floor floorf
#define ceil ceilf
#define trunc truncf
#define sqrt sqrtf
#define exp expf
`;

/** A body of WGSL in C, by changes of text: generated code is a small part of WGSL. */
function inC(wgsl: string): string {
  return wgsl
    .replaceAll(/\b(?:let|var) (\w+) =/g, '__auto_type $1 =')
    .replaceAll(/bitcast<(\w+)>/g, 'bitcast_$1')
    .replaceAll(/(?<![\w.])(\d+\.\d+(?:e[+-]?\d+)?)(?![\w.])/g, '$1f');
}

/** The value of the output of a graph of elements, as its WGSL computes it from the bits of its inputs. */
function bodyOf(kernel: Kernel): string {
  const { inputs, outputs } = kernel;
  const block = new WgslBlock();
  const math = new WgslArithmetic(block);
  const nothing = (): never => {
    throw new Error('only elements are expected here');
  };
  const lowering = new NodeLowering<WgslValue>(math, kernel, {
    input: ({ name }) => ({ text: block.define(`bitcast<f32>(${name})`), type: 'f32', width: 1 }),
    ...{ parameter: nothing, axis: nothing, gather: nothing, fold: nothing },
  });
  const result = lowering.value(outputs[0]?.node ?? 0);
  const loads = inputs.map(({ name }, index) => `uint32_t ${name} = words[${index} * n + i];`).join(' ');
  return `${loads}\n${inC(block.text())}\n  words[i] = bits_of(${result.text});`;
}

/**
 * A program that computes kernels of elements: its argument is the name of one, its input the bits of the operands, one
 * whole operand after the other, its output the bits of the results.
 */
export function elementProgram(kernels: readonly Kernel[]): string {
  const cases = kernels.map(
    (kernel) => `if (strcmp(argv[1], "${kernel.name}") == 0)
    for (size_t n = count / ${kernel.inputs.length}, i = 0; i < n; i++) {
${bodyOf(kernel)}
    }`,
  );
  return `${PRELUDE}
static struct { uint32_t zero; } u;
int main(int argc, char **argv) {
  if (argc < 3) return 2;
  u.zero = (uint32_t)argc - 3;
  size_t count = strtoull(argv[2], NULL, 10);
  uint32_t *words = malloc(4 * count + 4);
  if (fread(words, 4, count, stdin) != count) return 3;
  ${cases.join('\n  ')}
  fwrite(words, 4, count, stdout);
  return 0;
}
`;
}
