// @ts-check

const scheduleAccess = 'packages/kernel/src/schedule/access.ts';
const scheduleCoalesce = 'packages/kernel/src/schedule/coalesce.ts';
const scheduleRowClass = 'packages/kernel/src/schedule/row-class.ts';
const evaluateAxes = 'packages/kernel/src/evaluate/axes.ts';
const evaluateMemory = 'packages/kernel/src/evaluate/memory.ts';
const evaluateTiling = 'packages/kernel/src/evaluate/tiling.ts';
const functionsFolds = 'packages/kernel/src/functions/folds.ts';
const functionsStorage = 'packages/kernel/src/functions/storage.ts';
const functionsRandom = 'packages/kernel/src/functions/random.ts';
const functionsIntegers = 'packages/kernel/src/functions/integers.ts';

/** Faults of what backends share to run kernels that programs write.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const kernelFaults = [
  {
    file: scheduleAccess,
    find: 'offset % width === 0 && strides',
    replace: 'offset % (width / 2) === 0 && strides',
    breaks: 'An operand that begins 8 bytes into 16 is read as vectors of 16.',
  },
  {
    file: scheduleAccess,
    find: 'at === axis || other % width === 0',
    replace: 'at === axis || other % (width / 2) === 0',
    breaks: 'Rows whose distance is no multiple of a vector are read as vectors.',
  },
  {
    file: scheduleAccess,
    find: "if (stride === 0) return 'constant';",
    replace: "if (stride === 0) return 'dense';",
    breaks: 'A broadcast operand is read as if its elements were neighbours.',
  },
  {
    file: scheduleCoalesce,
    find: 'const goesOn = last >= 0 && strides.every((view)',
    replace: 'const goesOn = last >= 0 && strides.slice(0, 1).every((view)',
    breaks: 'Axes are merged where only the first operand allows it.',
  },
  {
    file: scheduleCoalesce,
    find: '(view[inner[last] as number] as number) * reach',
    replace: '(view[inner[last] as number] as number) * (sizes[axis + 1] as number)',
    breaks: 'Axes are merged although the rows are padded.',
  },
  {
    file: scheduleCoalesce,
    find: 'RANK_CLASSES.find((candidate) => candidate >= least) as number;',
    replace: 'RANK_CLASSES.find((candidate) => candidate >= least - 1) as number;',
    breaks: 'A rank that has no class is computed without its first axes.',
  },
  {
    file: scheduleRowClass,
    find: 'classes.find(([most, team, rows]) => vectors <= most && team * rows <= maxLanes)',
    replace: 'classes.find(([most, team, rows]) => vectors <= most + 1 && team * rows <= maxLanes)',
    breaks: 'The last elements of a row are not kept, and so not folded.',
  },
  {
    file: scheduleRowClass,
    find: 'return 2 ** Math.floor(Math.log2(value));',
    replace: 'return value;',
    breaks: "A team is no power of two where the device's limit is none.",
  },
  {
    file: evaluateAxes,
    find: '      rest = (rest - at) / size;',
    replace: '      rest = (rest - at) / (size + 1);',
    breaks: 'A run over several axes repeats the first line.',
  },
  {
    file: evaluateAxes,
    find: 'const isOnePiece = last?.strides.every(',
    replace: 'const isOnePiece = last?.strides.some(',
    breaks: 'Axes of the CPU backend are merged where only some operands allow it.',
  },
  {
    file: evaluateMemory,
    find: 'Math.max(-128, Math.min(127, bits[k]!))',
    replace: 'bits[k]!',
    breaks: 'A value above 127 that is stored as i8 wraps around.',
  },
  {
    file: evaluateMemory,
    find: '0xfff + ((magnitude >> 13) & 1)) >> 13',
    replace: '0xfff + 1) >> 13',
    breaks: 'A value halfway between two of f16 is rounded up, not to even.',
  },
  {
    file: evaluateMemory,
    find: '((magnitude + 0x7fff + ((magnitude >> 16) & 1)) >>> 16)',
    replace: '((magnitude + 0x7fff) >>> 16)',
    breaks: 'A value halfway between two of bf16 is rounded down.',
  },
  {
    file: evaluateTiling,
    find: 'shape.slice(axis + 1).reduce((product, size) => product * size, 1)',
    replace: 'axis === shape.length - 1 ? 1 : 0',
    breaks: 'The place that an argmax of several axes gives is that in the last one.',
  },
  {
    file: evaluateTiling,
    find: 'const isWhole = otherElements.count === 1 && tile.elements === elementAxis.size;',
    replace: 'const isWhole = otherElements.count === 1;',
    breaks: 'A row that is cut into tiles is taken to be whole.',
  },
  {
    file: evaluateTiling,
    find: '(outer.stride === inner.whole && inner.size === inner.whole);',
    replace: 'inner.size === inner.whole;',
    breaks: 'Operands whose rows are padded are read as one piece.',
  },
  {
    file: evaluateTiling,
    find: "const count = kind === 'rowIndex' ? rank - folded : rank;",
    replace: 'const count = rank;',
    breaks: 'A negative axis of rowIndex counts from the folded axes.',
  },
  {
    file: functionsFolds,
    find: "a.less('u32', atX as never, atY as never)",
    replace: "a.less('u32', atY as never, atX as never)",
    breaks: 'Of equal elements argmax gives the last.',
  },
  {
    file: functionsFolds,
    find: 'k.isNan(bits), k.i(0x7fff_ffff), key), position]',
    replace: 'k.isNan(bits), inverted(a, k.i(0x7fff_ffff)), key), position]',
    breaks: 'A NaN does not win an argmin.',
  },
  {
    file: functionsFolds,
    find: "k.choose(a.equal('u32', bits, k.u(BITS.sign)), k.u(0), bits);",
    replace: 'bits;',
    breaks: 'Minus zero and zero are different places of an argmax.',
  },
  {
    file: functionsFolds,
    find: "op === 'max' ? [0x7fff_ffff, -Infinity]",
    replace: "op === 'max' ? [0x8000_0000, -Infinity]",
    breaks: 'The maximum of numbers with a NaN is a number.',
  },
  {
    file: functionsFolds,
    find: '  u32: [0, 0xffff_ffff],',
    replace: '  u32: [0x8000_0000, 0xffff_ffff],',
    breaks: 'The maximum of u32 starts at the sign bit.',
  },
  {
    file: functionsFolds,
    find: '2 ** -Math.ceil(Math.log2(Math.max(1, n)));',
    replace: '2 ** -Math.floor(Math.log2(Math.max(1, n)) / 8);',
    breaks: 'The mean of large numbers overflows.',
  },
  {
    file: functionsStorage,
    find: 'k.below(magnitude, 0x400), subnormal',
    replace: 'k.below(magnitude, 1), subnormal',
    breaks: 'Subnormals of f16 are read as if they were normal.',
  },
  {
    file: functionsStorage,
    find: "k.choose(a.equal('u32', kept, k.u(0)), k.u(quiet), kept);",
    replace: 'kept;',
    breaks: 'The NaN of f32 whose payload f16 has no room for becomes infinity.',
  },
  {
    file: functionsStorage,
    find: "const half = a.add('u32', isOdd, k.u(2 ** (bits - 1) - 1));",
    replace: 'const half = k.and(isOdd, 0);',
    breaks: 'Stored f16 is rounded towards zero.',
  },
  {
    file: functionsRandom,
    find: '[block, stream, zero, zero];',
    replace: '[block, zero, zero, zero];',
    breaks: 'Random numbers of two streams are the same.',
  },
  {
    file: functionsRandom,
    find: 'const ROUNDS = 10;',
    replace: 'const ROUNDS = 9;',
    breaks: 'Random numbers come from 9 rounds of Philox.',
  },
  {
    file: functionsRandom,
    find: 'k.choose(isOdd, w3, w2)',
    replace: 'k.choose(isOdd, w2, w2)',
    breaks: 'Of four neighbouring random numbers two are equal.',
  },
  {
    file: functionsIntegers,
    find: 'k.either(isZero, overflows), k.i(1), y);',
    replace: 'isZero, k.i(1), y);',
    breaks: 'The least integer divided by -1 is left to the device.',
  },
  {
    file: functionsIntegers,
    find: "const isMore = a.lessOrEqual('f32', k.f(2 ** 31), x);",
    replace: "const isMore = a.lessOrEqual('f32', k.f(2 ** 32), x);",
    breaks: 'A float above 2^31 becomes the largest float below it.',
  },
];
