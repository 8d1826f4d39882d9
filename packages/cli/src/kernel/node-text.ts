import type { KernelNode } from '@concord/backend-core/kernel';

/** A node in a few words, without its operands. */
export function nodeText(node: KernelNode): string {
  switch (node.kind) {
    case 'constant':
      return `constant ${constantText(node.type, node.bits)}`;
    case 'parameter':
    case 'input':
    case 'gather':
      return `${node.kind} ${node.name}`;
    case 'index':
    case 'rowIndex':
    case 'extent':
      return `${node.kind} ${node.axis}`;
    case 'fold':
      return `fold ${node.op}`;
    case 'arithmetic':
      return node.op;
    case 'spread':
      return 'spread';
  }
}

function constantText(type: KernelNode['type'], bits: number): string {
  if (type === 'bool') return String(bits === 1);
  if (type === 'i32') return String(bits | 0);
  if (type === 'u32') return String(bits);
  const [value] = new Float32Array(Uint32Array.of(bits).buffer);
  return Object.is(value, -0) ? '-0' : String(value);
}
