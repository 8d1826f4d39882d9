import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { loadSafetensors } from '@concord/ops';
import { fileSource } from '@concord/ops/node';
import { expect, test } from 'vitest';
import { Decoder } from '../src/decoder.ts';
import { openWeights } from '../src/model.ts';
import { serve } from '../src/serve.ts';
import { weightsOf } from '../src/weights.ts';

class LosableCpu extends CpuBackend {
  lose(): void {
    this.reportLost('pulled out');
  }
}

test.each<[string, () => readonly [backend: ComputeBackend, lose: () => void]]>([
  [
    'cpu',
    () => {
      const backend = new LosableCpu();
      return [backend, () => backend.lose()];
    },
  ],
  [
    'webgpu',
    () => {
      const backend = new WebGpuBackend();
      return [backend, () => backend.native.device.destroy()];
    },
  ],
])(
  'a device of %s that is lost is told to the texts under way, those that wait and those that come',
  async (_, make) => {
    const [backend, lose] = make();
    await backend.init();
    // A model that never ends a text, and whose tokens are all read alike.
    const folder = join(import.meta.dirname, 'models/qwen3');
    const weights = await openWeights((file) => fileSource(join(folder, file)));
    const config = { ...weights.config, ends: [], context: 2000 };
    const named = await loadSafetensors(backend, readFileSync(join(folder, 'model.safetensors')));
    const model = new Decoder(backend, config, weightsOf(named, config));
    const tokenizer = { encode: () => ({ ids: [5, 6] }), decode: (ids: readonly number[]) => 'x'.repeat(ids.length) };
    const files = {
      config,
      tokenizer: tokenizer as never,
      chatTemplate: undefined,
      begin: undefined,
      read: () => Promise.reject(new Error('is not asked')),
      load: () => Promise.reject(new Error('is not asked')),
    };
    const { server, batch } = serve(model, files, { name: 'small', size: 2, queue: 8 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
    const post = (stream: boolean): Promise<Response> => {
      const messages = [{ role: 'user', content: 'The device is' }];
      return fetch(url, { method: 'POST', body: JSON.stringify({ messages, stream, temperature: 0 }) });
    };
    const first = await post(true);
    const reader = (first.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = '';
    const more = async (): Promise<boolean> => {
      const { done, value } = await reader.read();
      text += decoder.decode(value);
      return !done;
    };
    while ((text.match(/"content":"[^"]/g) ?? []).length < 2) expect(await more()).toBe(true);
    const others = [post(true), ...Array.from({ length: 4 }, () => post(false))];
    while (batch.waiting < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    lose();
    while (await more());
    const answers = [
      text,
      ...(await Promise.all(others.map(async (each) => (await each).text()))),
      await (await post(false)).text(),
    ];
    for (const answer of answers) {
      const told = answer.trim().split('\n').at(-1) as string;
      const { error } = JSON.parse(told.replace(/^data: /, '')) as { error: object };
      expect(error).toMatchObject({ code: 'DEVICE_LOST', type: 'server_error' });
    }
    expect(batch.waiting).toBe(0);
    server.close();
    server.closeAllConnections();
    await batch[Symbol.asyncDispose]();
    model.dispose();
    await backend.dispose();
  },
);
