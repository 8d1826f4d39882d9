import type { ElementFunction } from '../../src/kernels/elementwise.wgsl.ts';

/** WGSL's built-ins, as far as the element functions use them, and the words that C keeps for itself. */
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
#define min(a, b) (_Generic((a), float: fminf, int32_t: min_i32)(a, b))
#define max(a, b) (_Generic((a), float: fmaxf, int32_t: max_i32)(a, b))
#define clamp(x, low, high) min(max(x, low), high)
#define round rintf
#define floor floorf
#define sqrt sqrtf
#define signed is_signed
`;

const TYPES: Readonly<Record<string, string>> = { f32: 'float', i32: 'int32_t', u32: 'uint32_t', bool: '_Bool' };
const typeOf = (name: string): string => TYPES[name] ?? name;

/** The declarations of an element function in C, by changes of text: these functions are a small part of WGSL. */
function declarations(wgsl: string): string {
  const parameters = (list: string): string =>
    list.replaceAll(/(\w+): (\w+)/g, (_, name: string, type: string) => `${typeOf(type)} ${name}`);
  return wgsl
    .replaceAll(
      /struct (\w+) \{([^}]*)\}/g,
      (_, name: string, fields: string) =>
        `typedef struct {${parameters(fields).replaceAll(',', ';')}} ${name};\n#define ${name}(...) ((${name}){__VA_ARGS__})`,
    )
    .replaceAll(
      /fn (\w+)\(([^)]*)\) -> (\w+)/g,
      (_, name: string, list: string, type: string) => `static ${typeOf(type)} ${name}(${parameters(list)})`,
    )
    .replaceAll(/^const (\w+) = (.*);$/gm, '#define $1 ($2)')
    .replaceAll(/\b(?:const|let|var) (\w+) =/g, '__auto_type $1 =')
    .replaceAll(/bitcast<(\w+)>/g, 'bitcast_$1')
    .replaceAll(/(?<![\w.])(\d+\.\d+(?:e[+-]?\d+)?)(?![\w.])/g, '$1f');
}

/**
 * A program that computes element functions: its argument is a function's name, its input the bits of the operands, one
 * whole operand behind the other, its output the bits of the results.
 */
export function elementProgram(
  functions: Readonly<Record<string, ElementFunction & { readonly inputs: string[] }>>,
): string {
  const shared = new Set(Object.values(functions).flatMap(({ uses }) => uses));
  const cases = Object.entries(functions).map(([name, { inputs, result }]) => {
    const loads = inputs.map((input, index) => `uint32_t ${input} = words[${index} * n + i];`).join(' ');
    return `if (strcmp(argv[1], "${name}") == 0)
    for (size_t n = count / ${inputs.length}, i = 0; i < n; i++) { ${loads} words[i] = ${declarations(result)}; }`;
  });
  return `${PRELUDE}
${declarations([...shared].join('\n'))}
int main(int argc, char **argv) {
  if (argc < 3) return 2;
  size_t count = strtoull(argv[2], NULL, 10);
  uint32_t *words = malloc(4 * count + 4);
  if (fread(words, 4, count, stdin) != count) return 3;
  ${cases.join('\n  ')}
  fwrite(words, 4, count, stdout);
  return 0;
}
`;
}
