// @ts-check
// What `pnpm check:structure` holds the tree to. A new op or family is added here first; the check then names every
// file that is missing.

export const ops = ['gemm', 'batched-gemm', 'conv2d', 'attention', 'reduce', 'unary', 'binary'];

/** Kernels come by family: gemm also holds batched and f16 products. */
export const families = ['gemm', 'conv2d', 'attention', 'reduce', 'unary', 'binary'];

/** One file per op in each of these. */
export const opRooms = [
  { file: (/** @type {string} */ op) => `packages/backend-core/src/contract/ops/${op}.ts`, ops },
  { file: (/** @type {string} */ op) => `packages/backend-core/src/contract/ops/${op}.validate.ts`, ops },
  { file: (/** @type {string} */ op) => `packages/backend-cpu/src/reference/${op}.ts`, ops },
  { file: (/** @type {string} */ op) => `packages/conformance/src/cases/${op}.ts`, ops: [...ops, 'gemm-f16'] },
];

/** Rooms that import nothing from each other: one judges the other. */
export const separateRooms = [['packages/backend-cpu/src/reference', 'packages/backend-cpu/src/kernels']];

/** Packages without dependencies, that also run in a browser. */
export const selfContained = ['packages/backend-core'];

export const headings = {
  package: ['## Install', '## Use'],
  backend: ['## Requirements', '## Limits'],
};

export const maxLines = 400;
