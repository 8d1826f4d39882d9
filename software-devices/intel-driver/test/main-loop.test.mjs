// @ts-check
import { expect, test } from 'vitest';
import { findMainLoop } from '../lib/main-loop.mjs';

/** As iga64 writes it: each instruction of 16 bytes. @param {string[]} instructions */
const assemblyOf = (...instructions) =>
  instructions.map((text, index) => `/* [${(16 * index).toString(16).padStart(4, '0')}]  */ ${text}`).join('\n');

const send = '(W)     send.dc0 (8|M0)          r2       r127    null:0  0x0            0x024844FD           {A@1,$0}';
const mad = '        mad (16|M0)              r10.0<1>:f    r10.0<8;1>:f      r2.0<8;1>:f       r4.0<0>:f';
const dpas = '        dpas.8x8 (16|M0)         r10:f         r10:f             r20:bf            r30.0:bf';
const add = '(W)     add (1|M0)               r1.0<1>:d  r1.0<0;1,0>:d  1:w';
const back = (/** @type {number} */ count) => `(W&f0.0) jmpi                                ${-16 * count}`;

test('without a loop, or without a multiply-add in one, there is none', () => {
  expect(findMainLoop(assemblyOf(mad, mad, add))).toBeUndefined();
  expect(findMainLoop(assemblyOf(add, add, back(2)))).toBeUndefined();
});

test('a loop counts what is between the target of a branch and the branch', () => {
  expect(findMainLoop(assemblyOf(mad, send, mad, dpas, add, back(4), mad))).toEqual({
    instructions: 5,
    multiplyAdds: 2,
    systolic: 1,
    sends: 1,
  });
});

test('of several, the one that is dense in many multiply-adds', () => {
  const inner = [mad, mad, mad, add, back(4)];
  // The outer loop has one more, and is mostly something else.
  expect(findMainLoop(assemblyOf(add, add, mad, ...inner, add, add, back(10)))).toMatchObject({
    instructions: 5,
    multiplyAdds: 3,
  });
  expect(findMainLoop(assemblyOf(mad, back(1), ...inner))).toMatchObject({ multiplyAdds: 3 });
});

test('a branch forward is no loop', () => {
  expect(findMainLoop(assemblyOf('(W)     jmpi                                 32', mad, mad))).toBeUndefined();
});
