import type { CheckedTopK, OpKernel, ResolvedTopK } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../../wasm-buffer.ts';
import { CodeCache } from '../common/code-cache.ts';
import { operandAddress } from '../common/operand-address.ts';
import type { Launcher } from '../kernel.ts';
import { TOP_K, topKCode } from './top-k-code.ts';

/** topK: a tile is a row, in one pass with a heap of the best so far. */
export function topKKernel(launcher: Launcher): OpKernel<CheckedTopK, ResolvedTopK<WasmBuffer>> {
  const codes = new CodeCache(launcher.traits);
  return {
    dtypes: ['f32'],
    run: ({ rows, columns, k, largest, input, values, indices }) => {
      const words = TOP_K.words(
        {
          input: operandAddress(input),
          values: operandAddress(values),
          indices: operandAddress(indices),
          columns,
          k,
          // Inverting all bits of a key makes the smallest one the largest.
          flip: largest ? 0 : -1,
        },
        {},
      );
      launcher.launch({ code: codes.get('', topKCode), words, tiles: rows, scratchBytes: 8 * k });
    },
  };
}
