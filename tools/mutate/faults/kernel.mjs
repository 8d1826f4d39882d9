// @ts-check

const scheduleAccess = 'packages/kernel/src/schedule/access.ts';
const scheduleCoalesce = 'packages/kernel/src/schedule/coalesce.ts';
const scheduleRowClass = 'packages/kernel/src/schedule/row-class.ts';
const evaluateRun = 'packages/kernel/src/evaluate/evaluate-run.ts';
const evaluateFolds = 'packages/kernel/src/evaluate/folds.ts';
const evaluateMemory = 'packages/kernel/src/evaluate/memory.ts';
const evaluateView = 'packages/kernel/src/evaluate/view.ts';
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
    file: evaluateView,
    find: 'rest = Math.floor(rest / outer.size);',
    replace: 'rest = Math.floor(rest / (outer.size + 1));',
    breaks: 'A run over several axes repeats the first line.',
  },
  {
    file: evaluateView,
    find: 'last?.stride === size * stride',
    replace: 'last !== undefined',
    breaks: 'Axes are merged that do not lie in one piece.',
  },
  {
    file: evaluateMemory,
    find: 'Math.max(-128, Math.min(127, bits))',
    replace: 'bits',
    breaks: 'A value above 127 that is stored as i8 wraps around.',
  },
  {
    file: evaluateMemory,
    find: '((bits & 0x7fff) > 0x7c00)',
    replace: '(false)',
    breaks: 'A NaN of f16 that is only copied loses what it carries.',
  },
  {
    file: evaluateMemory,
    find: '((magnitude + 0x7fff + ((magnitude >> 16) & 1)) >>> 16)',
    replace: '((magnitude + 0x7fff) >>> 16)',
    breaks: 'A value halfway between two of bf16 is rounded down.',
  },
  {
    file: evaluateFolds,
    find: 'places[row] = place + i;',
    replace: 'places[row] = i;',
    breaks: 'The place that an argmax of a long row gives is that in a part of it.',
  },
  {
    file: evaluateRun,
    find: "      if (rowLength > BLOCK) this.#forget('element');\n",
    replace: '',
    breaks: 'A row that is cut into tiles is taken to be its first tile again and again.',
  },
  {
    file: evaluateRun,
    find: "node.kind === 'rowIndex' ? shape.slice(0, shape.length - folded) : shape;",
    replace: 'shape;',
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
