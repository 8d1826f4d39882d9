// What every consumer of check-install.mjs does: computes on the backends named, in turn.
import { selectBackend } from '@concord/backend-core';
import { cpu } from '@concord/backend-cpu';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { matmul, softmax, tensor, tidy } from '@concord/ops';

/** @param {string[]} names @returns {Promise<string>} such as `wasm 0.2689 0.7311` for each, apart by semicolons */
export async function compute(names) {
  const results = [];
  for (const name of names) {
    const { backend } = await selectBackend([webgpu(), wasm(), cpu()], { prefer: [name] });
    const product = tidy(() =>
      softmax(
        matmul(
          tensor(backend, [[1, 2]]),
          tensor(backend, [
            [1, 0],
            [0, 1],
          ]),
        ),
      ),
    );
    results.push([backend.name, ...Array.from(await product.toArray(), (value) => value.toFixed(4))].join(' '));
    product.dispose();
    await backend.dispose();
  }
  return results.join('; ');
}
