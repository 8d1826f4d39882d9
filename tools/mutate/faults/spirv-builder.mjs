// @ts-check

const constantTable = 'packages/spirv-builder/src/constant-table.ts';
const typeTable = 'packages/spirv-builder/src/type-table.ts';
const words = 'packages/spirv-builder/src/words.ts';
const literalString = 'packages/spirv-builder/src/words.ts';
const opsMemory = 'packages/spirv-builder/src/ops/memory.ts';
const opsLoops = 'packages/spirv-builder/src/ops/loops.ts';

/** Faults of the SPIR-V that the builder writes.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const spirvBuilderFaults = [
  {
    file: constantTable,
    find: `\`\${type.id} \${words.join(' ')} \${String(value === true)}\``,
    replace: `\`\${type.id} \${words.map((word) => word & 0x7fff_ffff).join(' ')} \${String(value === true)}\``,
    breaks: 'Minus zero and zero become one constant.',
  },
  {
    file: constantTable,
    find: ' ${String(value === true)}`',
    replace: '`',
    breaks: 'True and false become one constant.',
  },
  {
    file: constantTable,
    find: "if (type.kind === 'float' && type.width === 16) this",
    replace: "if (type.kind === 'float' && type.width === 64) this",
    breaks: 'Halves are used without the capability for them.',
  },
  {
    file: typeTable,
    find: '`vector ${component.id} ${count}`',
    replace: '`vector ${component.id}`',
    breaks: 'Vectors of two and of four components become one type.',
  },
  {
    file: typeTable,
    find: '`array ${element.id} ${length.id}`',
    replace: '`array ${element.id}`',
    breaks: 'Arrays of different lengths become one type.',
  },
  {
    file: typeTable,
    find: '`pointer ${storage} ${pointee.id}`',
    replace: '`pointer ${pointee.id}`',
    breaks: 'Pointers to different memory become one type.',
  },
  {
    file: typeTable,
    find: 'if (count > 4) this',
    replace: 'if (count > 8) this',
    breaks: 'Vectors of 8 and 16 components lack their capability.',
  },
  {
    file: words,
    find: 'return [low, Number(bits >> 32n)];',
    replace: 'return [low, low];',
    breaks: 'Constants of 64 bits keep their low half in both words.',
  },
  {
    file: words,
    find: '(rest === 0.5 && floor % 2 === 1)',
    replace: 'rest === 0.5',
    breaks: 'A half constant is rounded up at ties.',
  },
  {
    file: words,
    find: 'if (magnitude >= 65_520)',
    replace: 'if (magnitude > 65_504)',
    breaks: 'A half constant that rounds to the largest half becomes infinity.',
  },
  {
    file: literalString,
    find: 'const bytes = [...utf8(text), 0];',
    replace: 'const bytes = utf8(text);',
    breaks: 'A name whose length is a multiple of 4 has no end.',
  },
  {
    file: opsMemory,
    find: 'align ?? scalarAlignment(type)',
    replace: "align ?? (type.kind === 'vector' ? type.count : 1) * scalarAlignment(type)",
    breaks: 'Vectors are read with the alignment of a whole vector, which their place need not have.',
  },
  {
    file: opsMemory,
    find: 'return [MemoryAccess.Aligned | volatile,',
    replace: 'return [MemoryAccess.Aligned,',
    breaks: 'A volatile access may be merged with others.',
  },
  {
    file: opsMemory,
    find: "type.kind === 'vector' ? OpenCl.vstore_halfn : OpenCl.vstore_half;",
    replace: 'OpenCl.vstore_half;',
    breaks: 'A vector of halves is stored as a scalar.',
  },
  {
    file: opsLoops,
    find: '(isSigned ? slt : ult)',
    replace: 'ult',
    breaks: 'A loop with a sign runs as one without.',
  },
];
