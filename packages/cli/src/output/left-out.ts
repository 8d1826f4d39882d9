import { type LeftOutVariant, printable } from '@concord/backend-core';

/** Why variants are not used on a device, with what its compiler said: some lines for each. */
export function leftOutLines(leftOut: readonly LeftOutVariant[]): string[] {
  return leftOut.flatMap(({ id, reason, log = '' }) => [
    printable(`${id}: ${reason}`),
    ...printable(log)
      .split('\n')
      .flatMap((line) => (line === '' ? [] : `  ${line}`)),
  ]);
}
