import type { ComputeBackend, ErrorCode } from '@concord/backend-core';
import { memory } from '@concord/ops';
import { expect } from 'vitest';
import { expectRejection } from '../../../backend-core/test/expect-error.ts';
import {
  type ElementType,
  type HostTensor,
  hostTensor,
  isFloat,
  scalars,
  sizeOf,
} from '../../src/graph/host-tensor.ts';
import { loadOnnx } from '../../src/index.ts';
import { difference } from './node-tests.ts';
import { reference } from './reference.ts';
import { type Given, modelBytes, node, type Parts, value } from './write-model.ts';

/** A model of one node, and what it is given. */
export interface OneNode {
  readonly op: string;
  /** Undefined: left out. */
  readonly inputs: readonly (HostTensor | undefined)[];
  /** Places of the inputs that are initializers. */
  readonly constant?: readonly number[];
  readonly attributes?: Readonly<Record<string, Given>>;
  /** Places of the outputs that are not left out. Default: the first. */
  readonly outputs?: readonly number[];
  readonly opset?: number;
  /** Of what ONNX Runtime gives. */
  readonly relative?: number;
  readonly absolute?: number;
}

/** The model of one node, and the feeds of the inputs that are not initializers. */
export function modelOf({ op, inputs, constant = [], attributes = {}, outputs = [0], opset = 21 }: OneNode): {
  parts: Parts;
  feeds: Record<string, HostTensor>;
} {
  const given = inputs.map((each, i) => ({ name: each === undefined ? '' : `in${i}`, tensor: each as HostTensor, i }));
  const [feeds, constants] = [false, true].map((isConstant) =>
    Object.fromEntries(
      given
        .filter(({ name, i }) => name !== '' && constant.includes(i) === isConstant)
        .map(({ name, tensor }) => [name, tensor]),
    ),
  ) as [Record<string, HostTensor>, Record<string, HostTensor>];
  const names = Array.from({ length: Math.max(...outputs) + 1 }, (_, i) => (outputs.includes(i) ? `out${i}` : ''));
  const parts: Parts = {
    nodes: [
      node(
        op,
        given.map(({ name }) => name),
        names,
        attributes,
      ),
    ],
    inputs: Object.entries(feeds).map(([name, { type, dims }]) => value(name, type, dims)),
    // Of what type they are follows from the node.
    outputs: outputs.map((i) => ({ name: `out${i}` })),
    constants,
    opset,
    more: { irVersion: 10n },
  };
  return { parts, feeds };
}

/** What ONNX Runtime computes; f16 by its bits, which some versions of Node have a class for. */
export async function byRuntime(
  model: Uint8Array,
  feeds: Readonly<Record<string, HostTensor>>,
): Promise<Record<string, HostTensor>> {
  const results = Object.entries(await reference(model, feeds)).map(([name, each]): [string, HostTensor] => {
    const { buffer, byteOffset, length } = each.data as Uint16Array;
    return [name, each.type === 'float16' ? { ...each, data: new Uint16Array(buffer, byteOffset, length) } : each];
  });
  return Object.fromEntries(results);
}

/** Runs a node three times, so that it is recorded and replayed, and expects what ONNX Runtime gives, and that nothing is left. */
export async function expectAsRuntime(backend: ComputeBackend, given: OneNode): Promise<void> {
  const { parts, feeds } = modelOf(given);
  await expectModelAsRuntime(backend, modelBytes(parts), feeds, given);
}

/** {@link expectAsRuntime} for a model. */
export async function expectModelAsRuntime(
  backend: ComputeBackend,
  bytes: Uint8Array,
  feeds: Readonly<Record<string, HostTensor>>,
  { relative = 1e-4, absolute = 1e-5 }: Pick<OneNode, 'relative' | 'absolute'> = {},
): Promise<void> {
  const wanted = await byRuntime(bytes, feeds);
  const before = memory().tensors;
  const model = await loadOnnx(backend, bytes);
  for (let turn = 0; turn < 3; turn++) {
    const results = await model.runOnHost(feeds);
    expect(Object.keys(results)).toEqual(Object.keys(wanted));
    for (const [name, each] of Object.entries(wanted)) {
      expect(difference(results[name] as HostTensor, each, relative, absolute), `${name}, run ${turn}`).toBe(undefined);
      if (isFloat(each.type)) expect(Array.from(scalars(each), Number).every(Number.isFinite), name).toBe(true);
    }
  }
  model.dispose();
  expect(memory().tensors, 'tensors that nothing gives back').toBe(before);
}

/** Expects the error of a node that is refused when it runs, and that nothing is left. */
export async function expectRefused(
  backend: ComputeBackend,
  given: OneNode,
  code: ErrorCode,
  detail: RegExp,
): Promise<void> {
  const { parts, feeds } = modelOf(given);
  using model = await loadOnnx(backend, modelBytes(parts));
  const before = memory().tensors;
  await expectRejection(model.runOnHost(feeds), code, detail);
  expect(memory().tensors).toBe(before);
}

/** Numbers that a seed gives: uniform from `low` to `high`, whole ones of integer types. */
export class Numbers {
  #state: number;

  constructor(seed = 1) {
    this.#state = seed;
  }

  next(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return this.#state / 2 ** 32;
  }

  tensor(dims: readonly number[], type: ElementType = 'float32', low = -1, high = 1): HostTensor {
    const values = Array.from({ length: sizeOf(dims) }, () => {
      const x = low + this.next() * (high - low);
      return isFloat(type) ? x : Math.round(x);
    });
    return hostTensor(type, dims, values);
  }

  /** Any bytes: packed elements of 4 bits are `sizeOf(dims) / 2` of them. */
  bytes(dims: readonly number[], type: 'uint8' | 'uint4' | 'int4' | 'int8' = 'uint8'): HostTensor {
    const length = type.endsWith('4') ? Math.ceil(sizeOf(dims) / 2) : sizeOf(dims);
    const data = Uint8Array.from({ length }, () => Math.floor(this.next() * 256));
    return { type, dims, data: type === 'int8' ? new Int8Array(data.buffer) : data };
  }
}
