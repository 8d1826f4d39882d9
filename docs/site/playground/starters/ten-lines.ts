import { selectBackend } from '@concord/backend-core';
import { cpu } from '@concord/backend-cpu';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { matmul, softmax, tensor, tidy } from '@concord/ops';

const { backend } = await selectBackend([webgpu(), wasm(), cpu()]);
const x = tensor(backend, [1, 2, 3, 4], [2, 2]);
const y = tidy(() => softmax(matmul(x, x))); // queued: nothing waits
console.log(await y.toArray(), 'on', backend.device.name); // waits
