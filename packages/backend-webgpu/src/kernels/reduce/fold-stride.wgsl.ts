import type { StorageBinding } from '../kernel.ts';
import { elementType, type Fold, foldWgsl } from './fold.wgsl.ts';

/** WGSL type of `width` neighbouring elements. */
export function vectorType(fold: Fold, width: 1 | 4): string {
  return width === 1 ? elementType(fold) : `vec4<${elementType(fold)}>`;
}

/** Bindings of the kernels that reduce columns, `width` of them at once. */
export function columnsStorage(fold: Fold, width: 1 | 4): Record<'input' | 'output', StorageBinding> {
  const type = `array<${vectorType(fold, width)}>`;
  return { input: { access: 'read', type }, output: { access: 'read_write', type } };
}

/**
 * `fold_stride(begin, end, stride)`: what the vectors of `input` at begin, begin + stride, ... below `end` fold to.
 * Four are on their way at a time, and joined before they are added: 1,024 of them make a chain of 258 additions.
 */
export function foldStrideWgsl(fold: Fold, width: 1 | 4): string {
  const type = vectorType(fold, width);
  const s = width === 1 ? '' : '4';
  return /* wgsl */ `
${foldWgsl(fold, width)}

fn fold_stride(begin: u32, end: u32, stride: u32) -> ${type} {
  var total = NOTHING${s};
  var i = begin;
  for (; i + 3u * stride < end; i += 4u * stride) {
    let first = fold${s}(lift${s}(input[i]), lift${s}(input[i + stride]));
    let second = fold${s}(lift${s}(input[i + 2u * stride]), lift${s}(input[i + 3u * stride]));
    total = fold${s}(total, fold${s}(first, second));
  }
  for (; i < end; i += stride) { total = fold${s}(total, lift${s}(input[i])); }
  return total;
}`;
}
