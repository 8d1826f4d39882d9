import { ModuleBuilder } from '@concord/spirv-builder';

/** Work-items of a group of `argmaxRows`. */
export const GROUP = 64;

/** The module of a kernel `argmax`: for each row of a matrix, the index of its largest element; one work-item per row. */
export function argmaxRows(): Uint32Array {
  const module = new ModuleBuilder();
  const [f32, u32] = [module.float(32), module.int(32)];
  const parameters = { scores: module.globalPointer(f32), best: module.globalPointer(u32), rows: u32, columns: u32 };
  module.kernel(
    'argmax',
    parameters,
    (k, { scores, best, rows, columns }) => {
      const row = k.uconvert(k.globalId(0), u32);
      k.when(k.ult(row, rows), () => {
        const first = k.at(scores, k.mul(row, columns));
        const [, index] = k.forLoop({ from: 1, to: columns }, [k.load(first), k.constant(u32, 0)], (i, [max, at]) => {
          const score = k.load(k.at(first, i));
          const isLarger = k.gt(score, max!);
          return [k.select(isLarger, score, max!), k.select(isLarger, i, at!)];
        });
        k.store(k.at(best, row), index!);
      });
    },
    { localSize: [GROUP, 1, 1] },
  );
  return module.build();
}
