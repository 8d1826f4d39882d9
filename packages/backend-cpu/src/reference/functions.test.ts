import { BINARY_OPS, UNARY_OPS, type BinaryOp, type UnaryOp } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { binaryFunction, binaryReference } from './binary.ts';
import { erfcReference } from './erfc.ts';
import { unaryFunction, unaryReference } from './unary.ts';
import { rows } from '../../test/support/rows.ts';

const { NaN: nan } = Number;

function expectRelative(got: number, want: number, bound: number): void {
  expect(Math.abs(got - want), `got ${got}, want ${want}`).toBeLessThanOrEqual(bound * Math.abs(want));
}

describe('erfcReference', () => {
  // Python 3: math.erfc
  it.each(
    rows<[number, number]>(`
    -5 1.9999999999984626; -3 1.9999779095030015; -2 1.9953222650189528; -1.5 1.9661051464753108;
    -1 1.842700792949715; -0.5 1.5204998778130465; -0.1 1.1124629160182848; -1e-8 1.0000000112837917; 0 1;
    1e-10 0.999999999887162; 0.1 0.8875370839817152; 0.25 0.7236736098317631; 0.5 0.4795001221869535;
    0.75 0.28884436634648486; 0.9999 0.15734072195124052; 1 0.15729920705028513; 1.25 0.07709987174354177;
    1.5 0.033894853524689274; 2 0.004677734981047265; 2.5 0.0004069520174449589; 3 2.2090496998585438e-5;
    4 1.541725790028002e-8; 5 1.5374597944280351e-12; 6 2.1519736712498916e-17; 8 1.1224297172982928e-29;
    10 2.088487583762545e-45; 15 7.212994172451206e-100; 20 5.3958656116079005e-176; 25 8.300172571196522e-274;
    26 5.663192408856143e-296`),
  )('%d', (x, want) => {
    expectRelative(erfcReference(x), want, 1e-13);
  });

  it('limits', () => {
    expect(erfcReference(Infinity)).toBe(0);
    expect(erfcReference(-Infinity)).toBe(2);
    expect(erfcReference(nan)).toBe(nan);
    expect(erfcReference(30)).toBe(0);
  });

  it('its two halves meet at 1', () => {
    expectRelative(erfcReference(1 - 2 ** -53), erfcReference(1), 1e-14);
  });
});

describe('unaryReference', () => {
  // Python 3, module math: exp, log, sqrt, tanh; sigmoid 1/(1+exp(-x)), silu x/(1+exp(-x)), gelu x/2 erfc(-x/sqrt(2)).
  const golden: Array<[UnaryOp, number, number]> = rows<[UnaryOp, number, number]>(`
    relu 3 3; relu -3 0; abs -2.5 2.5; neg 2.5 -2.5; exp 1 2.718281828459045; exp -3 0.049787068367863944;
    log 2 0.6931471805599453; log 1e-30 -69.07755278982137; sqrt 2 1.4142135623730951; sqrt 1e-30 1e-15;
    tanh -1 -0.7615941559557649; tanh 0.5 0.46211715726000974; sigmoid -3 0.04742587317756678;
    sigmoid 2 0.8807970779778823; sigmoid 700 1; sigmoid -700 9.85967654375977e-305;
    silu -3 -0.14227761953270035; silu 0.5 0.3112296656009273; silu -20 -4.122307236380407e-8;
    gelu 1 0.8413447460685429; gelu -1 -0.15865525393145707; gelu 0.5 0.34573123063700656;
    gelu -3 -0.004049694094890287; gelu -6 -5.919525870226207e-9; gelu -30 -1.4720141781446293e-196`);
  it.each(golden)('%s(%d)', (op, x, want) => {
    expectRelative(unaryFunction(op)(x), want, 1e-13);
  });

  it('has a golden value for every op', () => {
    expect(new Set(golden.map(([op]) => op))).toEqual(new Set(UNARY_OPS));
  });

  it.each(UNARY_OPS)('%s of NaN is NaN', (op) => {
    expect([...unaryReference(op, [nan, nan])]).toEqual([nan, nan]);
  });

  // C99 Annex F, and the limits of the functions that it does not have. The sign of zero is not looked at.
  it.each(
    rows<[UnaryOp, number, number, number, number]>(`
    relu Infinity -Infinity Infinity 0; abs Infinity -Infinity Infinity Infinity;
    neg Infinity -Infinity -Infinity Infinity; exp Infinity -Infinity Infinity 0;
    log Infinity -Infinity Infinity NaN; sqrt Infinity -Infinity Infinity NaN; tanh Infinity -Infinity 1 -1;
    sigmoid Infinity -Infinity 1 0; silu Infinity -Infinity Infinity 0; gelu Infinity -Infinity Infinity 0;
    log 0 -0 -Infinity -Infinity; log -1 1 NaN 0; sqrt -1 0 NaN 0; gelu 0 -1e300 0 0; silu 0 -1e300 0 0`),
  )('%s at %d and %d', (op, x, y, atX, atY) => {
    expect([...unaryReference(op, [x, y])].map((value) => value + 0)).toEqual([atX, atY]);
  });

  it('works element by element', () => {
    expect([...unaryReference('neg', [1, -2, 3])]).toEqual([-1, 2, -3]);
  });
});

describe('binaryReference', () => {
  // By hand; pow from Python 3, math.pow.
  const golden: Array<[BinaryOp, number, number, number]> = rows<[BinaryOp, number, number, number]>(`
    add 1 10 11; sub 1 10 -9; mul 3 -4 -12; div 7 2 3.5; max -1 2 2; max 2 -1 2; min -1 2 -1; min 2 -1 -1;
    pow 2 0.5 1.4142135623730951; pow 3 2.5 15.588457268119896; pow 10 -3 0.001; pow 0.5 10 0.0009765625;
    pow 1.5 -2.5 0.36288736930121157; pow -2 3 -8`);
  it.each(golden)('%s(%d, %d)', (op, x, y, want) => {
    expectRelative(binaryFunction(op)(x, y), want, 1e-14);
  });

  it('has a golden value for every op', () => {
    expect(new Set(golden.map(([op]) => op))).toEqual(new Set(BINARY_OPS));
  });

  it.each(BINARY_OPS)('%s with NaN is NaN, on either side', (op) => {
    expect([...binaryReference(op, [nan, 2, nan], [2, nan, nan])]).toEqual([nan, nan, nan]);
  });

  it.each(
    rows<[BinaryOp, number, number, number]>(`
    div 1 0 Infinity; div -1 0 -Infinity; div 1 -0 -Infinity; div 0 0 NaN; div Infinity Infinity NaN;
    sub Infinity Infinity NaN; mul 0 Infinity NaN; max -Infinity Infinity Infinity;
    min -Infinity Infinity -Infinity`),
  )('%s(%d, %d) = %d', (op, x, y, want) => {
    expect(binaryFunction(op)(x, y)).toBe(want);
  });

  // C99 F.9.4.4, line by line.
  it.each(
    rows<[number, number, number]>(`
    0 -3 Infinity; -0 -3 -Infinity; -0 -2 Infinity; 0 -2.5 Infinity; 0 3 0; -0 3 -0; -0 2 0; -1 Infinity 1;
    -1 -Infinity 1; 1 NaN 1; 1 Infinity 1; 1 -Infinity 1; NaN 0 1; NaN -0 1; Infinity 0 1; -2 0.5 NaN;
    0.5 -Infinity Infinity; -2 -Infinity 0; -0.5 Infinity 0; 2 Infinity Infinity; -Infinity -3 -0;
    -Infinity -2 0; -Infinity 3 -Infinity; -Infinity 2 Infinity; Infinity -1 0; Infinity 0.5 Infinity`),
  )('pow(%d, %d) = %d', (x, y, want) => {
    expect(binaryFunction('pow')(x, y)).toBe(want);
  });
});
