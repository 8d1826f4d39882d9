import { BackendError, type BackendErrorFields, isBackendError } from '@concord/backend-core';

/** Returns an `INVALID_ARGUMENT` error of a model or its inputs. */
export function refuse(detail: string, fields: BackendErrorFields = {}): BackendError {
  return new BackendError('INVALID_ARGUMENT', `onnx: ${detail}`, { op: 'onnx', ...fields });
}

/** `UNSUPPORTED` of a model. */
export function unsupported(detail: string, fields: BackendErrorFields = {}): BackendError {
  return new BackendError('UNSUPPORTED', `onnx: ${detail}`, { op: 'onnx', ...fields });
}

/** The names that errors give a node. */
export interface Named {
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  readonly outputs: readonly string[];
}

/** Returns the name of a node's operator in the table, `com.microsoft.Gelu`. */
export function kindOf({ op, domain }: Pick<Named, 'op' | 'domain'>): string {
  return domain === '' ? op : `${domain}.${op}`;
}

/** Names a node, such as `Conv "conv1"`; by its outputs if it has no name. */
export function nodeText(node: Named): string {
  return node.name === '' ? `${kindOf(node)} of "${node.outputs[0] ?? ''}"` : `${kindOf(node)} "${node.name}"`;
}

/** Returns the error of a node, or of its inputs: what was thrown, with its code if it has one, after the names. */
export function errorOf(node: Named | undefined, thrown: unknown, given?: string): unknown {
  const names = [...(node ? [`node ${nodeText(node)}`] : []), ...(given ? [given] : [])].join(', ');
  if (thrown instanceof RangeError || thrown instanceof TypeError) {
    return refuse(`${names}: ${thrown.message}`, { cause: thrown });
  }
  if (!isBackendError(thrown) || thrown.detail.startsWith('onnx: node ')) return thrown;
  const { code, detail, backend, hint, requestedBytes, inUseBytes, limitBytes, status } = thrown;
  const fields = { op: 'onnx', backend, hint, requestedBytes, inUseBytes, limitBytes, status, cause: thrown };
  return new BackendError(code, `onnx: ${names}: ${detail.replace(/^(onnx|byteSource): /, '')}`, fields);
}
