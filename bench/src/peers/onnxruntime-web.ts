import { type InferenceSession, Tensor } from 'onnxruntime-web';
import type { LimitCase } from '../limits/cases.ts';
import { materialize } from '@concord/cli/bench';
import { graphOf } from '../onnx/graphs.ts';
import { encodeModel, type Graph, type Weights } from '../onnx/model.ts';
import { headOf } from '../onnx/sessions.ts';
import { openOnWasm, WEB_VERSION } from '../onnx/web-sessions.ts';
import { type Peer, pick } from '../peer.ts';

/**
 * ONNX Runtime compiled to WebAssembly, with SIMD and threads, which are the same for all of a process. Operands are
 * initializers and the output is one entry of the result, so that no copy into its memory or out of it is timed.
 */
export function onnxruntimeWeb(threads: number): Peer {
  // An op on initializers is computed in each run, not once before.
  const open = (graph: Graph, weights: Weights): Promise<InferenceSession> =>
    openOnWasm(encodeModel(graph, weights), threads, {
      optimization: { disable_specified_optimizers: 'ConstantFolding' },
    });
  return {
    name: 'onnxruntime web',
    role: 'peer',
    version: WEB_VERSION,
    remark: `WebAssembly, threads: ${threads}; operands are initializers`,
    async prepare(limitCase) {
      const graph = graphOf(limitCase.work);
      const weights = Object.fromEntries(operandsOf(graph, limitCase).map(({ name, values }) => [name, values]));
      const session = await open(headOf(graph), weights);
      const { run, wait } = oneByOne(() => session.run({}));
      return {
        run,
        wait,
        entries: async (indices) => {
          const whole = await open(graph, weights);
          const { y } = await whole.run({});
          await whole.release();
          return pick((y as Tensor).data as Float32Array, limitCase, indices);
        },
        close: () => session.release(),
      };
    },
  };
}

/** The same as a user calls it, whose operands are copied in and whose result is copied out in each run. */
export function onnxruntimeWebFed(threads: number): Peer {
  return {
    name: 'onnxruntime web, fed',
    role: 'peer',
    version: WEB_VERSION,
    remark: `WebAssembly, threads: ${threads}; with copies of operands and result`,
    async prepare(limitCase) {
      const graph = graphOf(limitCase.work);
      const session = await openOnWasm(encodeModel(graph), threads);
      const operands = operandsOf(graph, limitCase);
      const feeds = Object.fromEntries(
        operands.map(({ name, values, shape }) => [name, new Tensor('float32', values, shape)]),
      );
      let last: Tensor | undefined;
      const { run, wait } = oneByOne(async () => {
        last = (await session.run(feeds))['y'] as Tensor;
      });
      return {
        run,
        wait,
        entries: async (indices) => pick(last?.data as Float32Array, limitCase, indices),
        close: () => session.release(),
      };
    },
  };
}

/** Runs that follow each other: a session takes no other while it runs. */
function oneByOne(start: () => Promise<unknown>): { readonly run: () => void; readonly wait: () => Promise<void> } {
  let runs: Promise<unknown> = Promise.resolve();
  return {
    run: () => {
      runs = runs.then(start);
    },
    wait: async () => {
      await runs;
    },
  };
}

interface OperandValues {
  readonly name: string;
  readonly values: Float32Array;
  readonly shape: readonly number[];
}

function operandsOf({ inputs }: Graph, limitCase: LimitCase): OperandValues[] {
  const operands = limitCase.inputs;
  return Object.entries(inputs).map(([name, shape], i) => ({
    name,
    values: materialize(operands[i] as (typeof operands)[0]),
    shape,
  }));
}
