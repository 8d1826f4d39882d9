// @ts-check
// What `pnpm check:structure` holds the tree to. A new op or family is added here first; the check then names every
// file that is missing.

/** Definitions of the contract's ops: gemm also holds batched and f16 products. */
export const ops = ['gemm', 'conv2d', 'attention', 'top-k', 'reduce', 'unary', 'binary'];

/** Ops that are judged one by one. Those of `run` are judged by their kernels too, in rooms called `run`. */
const judged = ['gemm', 'batched-gemm', 'conv2d', 'attention', 'reduce', 'unary', 'binary'];

/** Kernels that a backend writes by hand, one room each. */
export const families = ['gemm', 'conv2d', 'attention'];

/** One file per op in each of these. */
export const opRooms = [
  { file: (/** @type {string} */ op) => `packages/backend-core/src/ops/${op}.ts`, ops },
  { file: (/** @type {string} */ op) => `packages/backend-cpu/src/reference/${op}.ts`, ops: judged },
  { file: (/** @type {string} */ op) => `packages/conformance/src/cases/${op}.ts`, ops: [...judged, 'gemm-f16'] },
];

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

export const maxLines = 400;
