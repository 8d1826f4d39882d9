import { expect, it } from 'vitest';
import { runProgram } from './support/in-process.ts';

// Drivers compile by themselves: lavapipe does so at every dispatch for some shapes of loops and branches (see
// kernels/wgsl/snippets.ts), and keeps what it compiled. A quarter of a megabyte or more an op shows after few ops.

const OPS = `({ backend, a, b, c }) => ({
  'gemm direct': () => backend.gemm({ m: 40, n: 40, k: 40, beta: 1, a, b, c }),
  'gemm large tiles': () => backend.gemm({ m: 128, n: 128, k: 64, a, b, c }),
  'gemm by a vector': () => backend.gemm({ m: 128, n: 1, k: 64, a, b, c }),
  'gemm f16': () => backend.gemmF16({ m: 33, n: 35, k: 37, a, b, c }),
  'gemm alpha 0': () => backend.gemm({ m: 33, n: 35, k: 37, alpha: 0, beta: 2, a, b, c }),
  conv2d: () => backend.conv2dForward({
    input: a, filter: b, output: c, inputShape: [1, 4, 16, 16], filterShape: [4, 4, 3, 3], outputShape: [1, 4, 14, 14],
    stride: [1, 1], padding: [0, 0],
  }),
  attention: () => backend.attention({ q: a, k: a, v: a, o: c, batch: 1, heads: 2, seqQ: 16, seqKv: 16, headDim: 16, scale: 1 }),
  'attention causal': () => backend.attention({
    q: a, k: a, v: a, o: c, batch: 1, heads: 2, seqQ: 16, seqKv: 16, headDim: 16, scale: 1, causal: true,
  }),
  topK: () => backend.topK({ rows: 64, columns: 64, k: 8, input: a, values: b, indices: c }),
  'reduce rows': () => backend.reduce({ op: 'mean', shape: [64, 64], axis: 1, input: a, output: c }),
  'reduce columns': () => backend.reduce({ op: 'sum', shape: [64, 64], axis: 0, input: a, output: c }),
  gelu: () => backend.unary({ op: 'gelu', n: 4096, input: a, output: c }),
  pow: () => backend.binary({ op: 'pow', n: 4096, a, b, output: c }),
  'copy between bytes': () => backend.copyDtod(c + 1, a + 2, 1000),
})`;

it('no op costs memory each time it runs', async () => {
  const { stdout, stderr } = await runProgram(`
    const backend = new WebGpuBackend();
    await backend.init();
    const [a, b, c] = [0, 1, 2].map(() => backend.alloc(2 ** 18));
    for (const ptr of [a, b, c]) backend.fill(ptr, 0, 2 ** 18);
    const grown = {};
    for (const [name, op] of Object.entries((${OPS})({ backend, a, b, c }))) {
      const run = async (count) => {
        for (let i = 0; i < count; i++) op();
        await backend.synchronize();
      };
      await run(128);
      const before = process.memoryUsage().rss;
      await run(256);
      grown[name] = Math.round((process.memoryUsage().rss - before) / 2 ** 20);
    }
    await backend.dispose();
    console.log(JSON.stringify(grown));
  `);
  expect(stderr).toBe('');
  // 256 times a quarter of a megabyte would be 64; the engine's own garbage is a few.
  const grown = Object.entries(JSON.parse(stdout) as Record<string, number>);
  expect(grown).toHaveLength(14);
  expect(grown.filter(([, mebibytes]) => mebibytes > 32)).toEqual([]);
});
