import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import { type HostTensor, scalars } from '../../src/graph/host-tensor.ts';
import { loadOnnx } from '../../src/index.ts';
import { decode } from '../../src/read/decode.ts';

import { readTensor } from '../../src/read/tensor.ts';
import { FETCHED, INSTALLED } from './fetch-node-tests.mjs';

/** The folder of the node tests of another release than the one that Debian packages. */
const GIVEN = process.env['ONNX_NODE_TESTS_IN'];

/** Where ONNX's node tests lie. */
export const NODE_TESTS: string = GIVEN ?? (existsSync(INSTALLED) ? INSTALLED : FETCHED.tests);

/** What became of a test. */
export interface Outcome {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'unsupported';
  readonly reason: string;
}

export const hasNodeTests = existsSync(NODE_TESTS);

/** The names of the tests. */
export function nodeTests(): string[] {
  return readdirSync(NODE_TESTS).sort();
}

function readPb(file: string): HostTensor {
  return readTensor(file, decode('Tensor', readFileSync(file)), new Map());
}

/** Runs a test, twice where the work can be recorded. */
export async function runNodeTest(backend: ComputeBackend, name: string): Promise<Outcome> {
  const folder = join(NODE_TESTS, name);
  const of = (state: Outcome['state'], reason = ''): Outcome => ({ name, state, reason });
  try {
    using model = await loadOnnx(backend, new Uint8Array(readFileSync(join(folder, 'model.onnx'))), {
      float64: 'float32',
    });
    for (const set of readdirSync(folder).filter((each) => each.startsWith('test_data_set'))) {
      const files = (kind: string): string[] => readdirSync(join(folder, set)).filter((each) => each.startsWith(kind));
      const read = (kind: string): HostTensor[] =>
        files(kind).map((_, i) => readPb(join(folder, set, `${kind}_${i}.pb`)));
      const [inputs, expected] = [read('input'), read('output')];
      // The data of that release has the bits of bfloat16 as uint16.
      const typed = (each: HostTensor, type: string): HostTensor =>
        type === 'bfloat16' && each.type === 'uint16' ? { ...each, type } : each;
      const feeds = Object.fromEntries(
        model.inputs.map((info, i) => [info.name, typed(inputs[i] as HostTensor, info.type)]),
      );
      for (let turn = 0; turn < 3; turn++) {
        const results = await model.runOnHost(feeds);
        for (const [i, info] of model.outputs.entries()) {
          const wrong = difference(results[info.name] as HostTensor, typed(expected[i] as HostTensor, info.type));
          if (wrong !== undefined) return of('failed', `run ${turn + 1}, ${info.name}: ${wrong}`);
        }
      }
    }
    return of('passed');
  } catch (error) {
    if (isBackendError(error, 'UNSUPPORTED')) return of('unsupported', error.detail);
    return of('failed', error instanceof Error ? (error.stack ?? '').slice(0, 400) : String(error));
  }
}

/** How a result differs from what is expected: 1e-3 of it and 1e-7 as ONNX's own runner has it. */
export function difference(got: HostTensor, wanted: HostTensor, relative = 1e-3, absolute = 1e-7): string | undefined {
  if (got.type !== wanted.type) return `is ${got.type}, expected ${wanted.type}`;
  if (got.dims.join() !== wanted.dims.join()) return `is [${got.dims.join()}], expected [${wanted.dims.join()}]`;
  if (got.type === 'string') return got.data.join() === wanted.data.join() ? undefined : `is ${got.data.join()}`;
  const [a, b] = [scalars(got), scalars(wanted)];
  for (let i = 0; i < b.length; i++) {
    const [x, y] = [Number(a[i]), Number(b[i])];
    if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
    if (!(Math.abs(x - y) <= absolute + relative * Math.abs(y))) return `element ${i} is ${x}, expected ${y}`;
  }
  return undefined;
}
