import { type Kernel, type KernelNode, operandsOf } from '@concord/backend-core/kernel';

/**
 * Some nodes and those that they need, as far as they are not known, each after its operands. What a fold folds, or a scan, it does not
 * need: its value comes from elsewhere.
 *
 * @param isSource - nodes besides folds and scans that need no others
 */
export function missingNodes(
  { nodes }: Kernel,
  roots: readonly number[],
  isKnown: (node: number) => boolean,
  isSource: (node: number) => boolean = () => false,
): readonly number[] {
  const missing = new Set<number>();
  const stack = [...roots];
  while (stack.length > 0) {
    const index = stack.pop() as number;
    if (missing.has(index) || isKnown(index)) continue;
    missing.add(index);
    const node = nodes[index] as KernelNode;
    if (node.kind !== 'fold' && node.kind !== 'scan' && !isSource(index)) stack.push(...operandsOf(node));
  }
  return [...missing].sort((a, b) => a - b);
}
