import { InvalidArgumentError } from 'commander';

/** The parser of an option whose value is an integer from `min` to `max`. */
export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
  };
}

/** The parser of an option whose value is a number from `min` on. */
export function atLeast(min: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (value >= min && value < Infinity) return value;
    throw new InvalidArgumentError(`It must be a number from ${min} on.`);
  };
}
