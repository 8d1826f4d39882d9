import * as tf from '@tensorflow/tfjs-core';
import { packageVersion } from '../machine.ts';
import type { Peer } from '../peer.ts';
import { tfjs } from './tfjs.ts';

const PACKAGE = '@tensorflow/tfjs-backend-webgpu';

/** TensorFlow.js on WebGPU. It submits every few ops by itself, and there is no call to wait but reading something. */
export const tfjsWebgpu: Peer = tfjs({
  name: 'tfjs webgpu',
  version: packageVersion(PACKAGE),
  backend: 'webgpu',
  setUp: async () => {
    // Not before there is a `navigator.gpu`; and by a variable, as its types clash with TypeScript's own.
    await import(PACKAGE);
    tf.env().set('WEBGPU_CPU_FORWARD', false); // or small inputs do not reach the device
  },
  wait: async (result) => {
    const first = tf.tidy(() => tf.slice(tf.reshape(result, [-1]), 0, 1));
    await first.data();
    first.dispose();
  },
});
