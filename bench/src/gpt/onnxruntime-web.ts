import { Tensor } from 'onnxruntime-web';
import { openOnWasm, WEB_VERSION } from '../onnx/web-sessions.ts';
import type { GptContestant } from './cases.ts';
import { onnxruntimeHostGpt } from './onnxruntime-host.ts';

/** ONNX Runtime compiled to WebAssembly. */
export function onnxruntimeWebGpt(threads: number): GptContestant {
  return onnxruntimeHostGpt({
    name: 'onnxruntime web',
    version: WEB_VERSION,
    remark: `WebAssembly, threads: ${threads}`,
    open: (model) => openOnWasm(model, threads),
    tensor: (values, shape) => new Tensor('int32', values, shape),
  });
}
