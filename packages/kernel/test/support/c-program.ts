import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Arithmetic } from '../../src/arithmetic/arithmetic.ts';
import { C_PRELUDE, cArithmetic } from './c-arithmetic.ts';

/** From the bits of two operands to those of a result; one of them may be left unused. */
export type BitFunction = <V>(a: Arithmetic<V>, x: V, y: V) => V;

const MAIN = `
#include <stdio.h>
#include <stdlib.h>
uint32_t zero = 0;
int main(int argc, char **argv) {
  const int which = atoi(argv[1]);
  const size_t n = strtoull(argv[2], 0, 10);
  zero = (uint32_t)argc - 3;
  uint32_t *x = malloc(8 * n + 8), *y = x + n;
  if (fread(x, 4, 2 * n, stdin) != 2 * n) return 1;
  for (size_t i = 0; i < n; i++) x[i] = FUNCTIONS[which](x[i], y[i]);
  return fwrite(x, 4, n, stdout) == n ? 0 : 1;
}
`;

/** Functions as a C compiler understands them. */
export class CProgram {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'concord-kernel-'));
  readonly #names: readonly string[];

  /** @throws Error when gcc does not take the code */
  constructor(functions: Readonly<Record<string, BitFunction>>, options: readonly string[]) {
    this.#names = Object.keys(functions);
    const code = Object.values(functions).map((build, index) => {
      const lines: string[] = [];
      const result = build(cArithmetic(lines), 'x', 'y');
      return `static uint32_t f${index}(uint32_t x, uint32_t y) {\n${lines.join('\n')}\nreturn ${result};\n}`;
    });
    const table = `static uint32_t (*const FUNCTIONS[])(uint32_t, uint32_t) = {${code.map((_, i) => `f${i}`).join()}};`;
    const input = [C_PRELUDE, ...code, table, MAIN].join('\n');
    // Integers of shaders wrap.
    const all = [...options, '-std=gnu11', '-fwrapv', '-x', 'c', '-', '-o', this.#program, '-lm'];
    const { status, stderr } = spawnSync('gcc', all, { input, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  get #program(): string {
    return join(this.#folder, 'functions');
  }

  /** The bits of a function's results. */
  run(name: string, x: Uint32Array, y: Uint32Array): Uint32Array {
    const input = Buffer.concat([new Uint8Array(x.buffer), new Uint8Array(y.buffer)]);
    const { status, stdout } = spawnSync(this.#program, [String(this.#names.indexOf(name)), String(x.length)], {
      input,
      maxBuffer: 2 ** 30,
    });
    if (status !== 0) throw new Error(`the program for ${name} ended with ${status}`);
    return new Uint32Array(new Uint8Array(stdout).buffer);
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** Returns whether there is a gcc. */
export function hasGcc(): boolean {
  return spawnSync('gcc', ['--version']).error === undefined;
}
