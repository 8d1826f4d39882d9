import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byteSource } from '@concord/ops';
import { loadOnnx, type OnnxSource } from '../src/index.ts';

import { encode, f32, graphProto, listOf, node, tensorProto, value } from './support/write-model.ts';

const PAGE = '\n<!doctype html><html><body>Not found</body></html>';

/** A model whose matrix lies in a file beside it. */
const { raw, ...matrix } = tensorProto('w', f32([2, 2], [1, 2, 3, 4]));
const bytes = Uint8Array.of(...new Uint8Array(8), ...(raw as Uint8Array));
const graph = graphProto({ inputs: [value('x')], nodes: [node('MatMul', ['x', 'w'], ['y'])], outputs: ['y'] });
const initializers = [
  {
    ...matrix,
    location: 1,
    external: [
      { key: 'location', value: 'w.bin' },
      { key: 'offset', value: '8' },
    ],
  },
];
const model = encode('Model', {
  irVersion: 8n,
  graph: { ...graph, initializers },
  operatorSets: [{ domain: '', version: 17n }],
});

describe('where a model comes from', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concord-onnx-'));
  let backend: ComputeBackend;
  let server: Server;
  let address: string;
  beforeAll(async () => {
    backend = await CpuBackend.create();
    writeFileSync(join(folder, 'model.onnx'), model);
    writeFileSync(join(folder, 'w.bin'), bytes);
    server = createServer(({ url }, response) => {
      const found = url === '/model.onnx' ? model : url === '/w.bin' ? bytes : undefined;
      if (url === '/page.onnx') response.end(PAGE);
      else response.writeHead(found ? 200 : 404).end(found ?? PAGE);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    rmSync(folder, { recursive: true });
    await backend.dispose();
  });

  it.each<[string, () => OnnxSource | Promise<OnnxSource>]>([
    ['a path', () => join(folder, 'model.onnx')],
    ['a URL of a file', () => pathToFileURL(join(folder, 'model.onnx'))],
    ['a URL', () => new URL(`${address}/model.onnx`)],
    ['a URL as text', () => `${address}/model.onnx`],
    ['a Response', () => fetch(`${address}/model.onnx`)],
    ['a ByteSource', () => byteSource(`${address}/model.onnx`)],
  ])('%s, with the file beside it', async (_, source) => {
    using opened = await loadOnnx(backend, await source());
    const { y } = await opened.runOnHost({ x: f32([1, 2], [1, 1]) });
    expect(listOf(y)).toEqual([4, 6]);
  });

  it('a Blob, which has nothing beside it', async () => {
    await expect(loadOnnx(backend, new Blob([model as Uint8Array<ArrayBuffer>]))).rejects.toThrow(
      /onnx: w\.bin: tensors of the model lie in/,
    );
  });

  it('bytes, with the file given', async () => {
    using opened = await loadOnnx(backend, model.buffer as ArrayBuffer, {
      externalData: { 'w.bin': bytes },
    });
    expect(listOf((await opened.runOnHost({ x: f32([1, 2], [1, 0]) }))['y'])).toEqual([1, 2]);
  });

  it('what is not there is refused with its name', async () => {
    await expect(loadOnnx(backend, join(folder, 'nothing.onnx'))).rejects.toThrow('nothing.onnx cannot be read');
    await expect(loadOnnx(backend, `${address}/nothing.onnx`)).rejects.toThrow(
      /onnx: the model: \S+nothing.onnx answered 404/,
    );
    for (const source of [`${address}/page.onnx`, Buffer.from(PAGE), new Blob([PAGE])]) {
      await expect(loadOnnx(backend, source)).rejects.toMatchObject({
        message: expect.stringContaining(' is an HTML page ("<!doctype html><") in the place of a file') as unknown,
        hint: expect.stringContaining('open it in a browser') as unknown,
      });
    }
    await expect(loadOnnx(backend, 7 as never)).rejects.toThrow('onnx: the model: takes bytes, a URL');
  });
});
