import type { Random } from './text-random-module.ts';

const TYPES = [
  ...['OpTypeInt 8 0', 'OpTypeInt 8 1', 'OpTypeInt 16 0', 'OpTypeInt 16 1'],
  ...['OpTypeInt 32 0', 'OpTypeInt 32 1', 'OpTypeInt 64 0', 'OpTypeInt 64 1'],
  ...['OpTypeFloat 16', 'OpTypeFloat 32', 'OpTypeFloat 64'],
];

/** Instructions that declare number types as %1, %2, ... */
export const NUMBER_DECLARATIONS: string = TYPES.map((type, index) => `%${index + 1} = ${type}\n`).join('');

/** Texts that are numbers or nearly so, each for one of the declared types. */
export function literalTexts(random: Random, count: number): { type: number; text: string }[] {
  return Array.from({ length: count }, () => ({ type: 1 + random(TYPES.length), text: literalText(random) }));
}

function literalText(random: Random): string {
  const digits = (most: number, base: number): string =>
    Array.from({ length: 1 + random(most) }, () => random(base).toString(base)).join('');
  // A leading zero means octal to spirv-as, and nothing here.
  const decimal = (most: number): string => digits(most, 10).replace(/^0+(?=\d)/, '');
  const power = (most: number): string => `${['', '-', '+'][random(3)]}${random(most)}`;
  const sign = ['', '', '', '-', '+'][random(5)]!;
  switch (random(6)) {
    case 0:
      return sign + decimal(random(2) === 0 ? 5 : 21);
    case 1:
      return `${sign}0x${digits(random(2) === 0 ? 4 : 18, 16)}`;
    case 2:
      return `${sign}${decimal(5)}.${digits(20, 10)}`;
    case 3:
      return `${sign}${decimal(3)}.${digits(12, 10)}e${power(random(2) === 0 ? 12 : 400)}`;
    case 4:
      return `${sign}0x${digits(2, 16)}${random(2) === 0 ? `.${digits(15, 16)}` : ''}p${power(150)}`;
    default:
      return `${sign}0x1.${digits(8, 16)}p${power(1100)}`;
  }
}
