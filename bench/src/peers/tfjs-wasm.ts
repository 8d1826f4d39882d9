import '@tensorflow/tfjs-backend-wasm';
import { packageVersion } from '../machine.ts';
import type { Peer } from '../peer.ts';
import { tfjs } from './tfjs.ts';

/** TensorFlow.js on XNNPACK, compiled to WebAssembly with SIMD; in Node it has one thread. */
export const tfjsWasm: Peer = tfjs({
  name: 'tfjs wasm',
  version: packageVersion('@tensorflow/tfjs-backend-wasm'),
  backend: 'wasm',
});
