// @ts-check
// The rules of `pnpm check:structure`. A new op begins with its definition; the check then names every other file
// that is missing.

/** The definitions of the ops; `others` are the other files in their folder. */
export const definitions = { folder: 'packages/backend-core/src/ops', others: ['index', 'op-definition', 'epilogue'] };

/** One file per op in each of these, or where that would be long a folder whose `suite.ts` it is. */
export const opRooms = [
  (/** @type {string} */ op) => `packages/backend-cpu/src/reference/${op}.ts`,
  (/** @type {string} */ op) => `packages/conformance/src/cases/${op}.ts`,
];

/** The mark of a definition whose op is a `run` of its own kernel: no backend has kernels for it. */
export const derivedMark = 'asRun:';

/** Rooms, or packages, that import nothing from each other: one judges the other. */
export const separateRooms = [
  ['packages/backend-cpu/src/reference', 'packages/backend-cpu/src/kernels'],
  ['packages/backend-cpu/src/reference', '@concord/kernel'],
];

/** Packages without dependencies, that also run in a browser. */
export const selfContained = ['packages/backend-core'];

export const headings = {
  package: ['## Install', '## Use'],
  backend: ['## Requirements', '## Limits'],
};

/** Of the sources of an example, without its tests. */
export const maxExampleLines = 600;
