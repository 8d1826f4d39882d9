import '@tensorflow/tfjs-backend-cpu';
import { packageVersion } from '../machine.ts';
import type { Peer } from '../peer.ts';
import { tfjs } from './tfjs.ts';

/** TensorFlow.js on its plain JavaScript backend, which computes when an op is called. */
export const tfjsCpu: Peer = tfjs({
  name: 'tfjs cpu',
  version: packageVersion('@tensorflow/tfjs-backend-cpu'),
  backend: 'cpu',
});
