import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-wasm';
import { packageVersion } from '../machine.ts';
import type { Peer } from '../peer.ts';
import { tfjs } from './tfjs.ts';

/** TensorFlow.js on XNNPACK, compiled to WebAssembly with SIMD. Its threads need the workers of a browser. */
export const tfjsWasm: Peer = tfjs({
  name: 'tfjs wasm',
  version: packageVersion('@tensorflow/tfjs-backend-wasm'),
  backend: 'wasm',
  isApart: true,
  setUp: async () => {
    tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  },
});
