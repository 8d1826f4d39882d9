/**
 * ONNX models, on every backend.
 *
 * @packageDocumentation
 */
export { type LoadOnnxOptions, loadOnnx, type OnnxModel, type OnnxSource, type RunOnnxOptions } from './load-onnx.ts';
export type { ElementType, HostData, HostTensor } from './graph/host-tensor.ts';
export type { ValueInfo } from './graph/graph.ts';
export type { Feeds } from './run/session.ts';
export { register, type RegisterOptions, type RuntimeBackend } from './runtime.ts';
