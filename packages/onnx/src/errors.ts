import { BackendError, type BackendErrorFields, isBackendError } from '@concord/backend-core';

/** `INVALID_ARGUMENT` of a model or what it was given. */
export function refuse(detail: string, fields: BackendErrorFields = {}): BackendError {
  return new BackendError('INVALID_ARGUMENT', `onnx: ${detail}`, { op: 'onnx', ...fields });
}

/** `UNSUPPORTED` of a model. */
export function unsupported(detail: string, fields: BackendErrorFields = {}): BackendError {
  return new BackendError('UNSUPPORTED', `onnx: ${detail}`, { op: 'onnx', ...fields });
}

/** What errors name a node by. */
export interface Named {
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  readonly outputs: readonly string[];
}

/** `Conv "conv1"`; of a node without a name what it gives. */
export function nodeText({ name, op, domain, outputs }: Named): string {
  const kind = domain === '' ? op : `${domain}.${op}`;
  return name === '' ? `${kind} of "${outputs[0] ?? ''}"` : `${kind} "${name}"`;
}

/** The error of a node: what was thrown, with its code where it has one, after the node's name. */
export function errorOf(node: Named, thrown: unknown): unknown {
  if (thrown instanceof RangeError || thrown instanceof TypeError) {
    return refuse(`${nodeText(node)}: ${thrown.message}`, { cause: thrown });
  }
  if (!isBackendError(thrown) || thrown.detail.startsWith('onnx: node ')) return thrown;
  const { code, detail, backend, hint, requestedBytes, inUseBytes, limitBytes, status } = thrown;
  const fields = { op: 'onnx', backend, hint, requestedBytes, inUseBytes, limitBytes, status, cause: thrown };
  return new BackendError(code, `onnx: node ${nodeText(node)}: ${detail.replace(/^onnx: /, '')}`, fields);
}
