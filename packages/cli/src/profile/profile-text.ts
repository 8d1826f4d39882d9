import { printable } from '@concord/backend-core';
import type { LaunchSum, Profile } from '@concord/backend-core/profile';
import type { Colors } from '../output/colors.ts';
import { formatCallTime, formatSpeed, plural } from '../output/format.ts';
import { plainTable } from '../output/table.ts';

const NONE = '-';

/**
 * A profile as a table with its sums beside each other, and a line on the whole.
 *
 * @param title - of the first column
 */
export function profileText(
  { backend, device, launches, wallMs, limits, isComplete }: Profile,
  title: string,
  rows: readonly LaunchSum[],
  colors: Colors,
): string {
  const all = rows.reduce((sum, { ms = 0 }) => sum + ms, 0);
  const hasShares = rows.some(({ share }) => share !== undefined);
  const head = [
    title,
    'launches',
    'replayed',
    'host',
    'time',
    'clock',
    '%',
    'GB/s',
    'GFLOP/s',
    ...(hasShares ? ['roof'] : []),
  ];
  const speed = (value: number | undefined): string => (value === undefined ? NONE : formatSpeed(value));
  const percent = (value: number | undefined): string => (value === undefined ? NONE : `${(100 * value).toFixed(1)}`);
  const cells = rows.map(({ name, launches, replayed, hostMs, ms, clock = NONE, gbs, gflops, share }) => [
    printable(name),
    ...[String(launches), String(replayed), formatCallTime(hostMs)],
    ...[ms === undefined ? NONE : formatCallTime(ms), clock, percent(ms === undefined ? undefined : ms / all)],
    ...[speed(gbs), speed(gflops), ...(hasShares ? [percent(share)] : [])],
  ]);
  const table = plainTable(head, cells, colors, { right: [1, 2, 3, 4, 6, 7, 8, 9] });
  const { gbs, gflops } = limits;
  const roof = [
    gbs === undefined ? [] : `${formatSpeed(gbs)} GB/s`,
    gflops === undefined ? [] : `${formatSpeed(gflops)} GFLOP/s`,
  ].flat();
  const untimed = launches.filter(({ ms }) => ms === undefined).length;
  return [
    ...(rows.length > 0 ? [table, ''] : []),
    `${plural(launches.length, 'launch', 'launches')} on ${backend} (${printable(device.name)}): ${formatCallTime(all)} of ${formatCallTime(wallMs)}`,
    ...(roof.length > 0 ? [`the roof, as measured: ${roof.join(' and ')}`] : []),
    ...(untimed > 0
      ? [`${plural(untimed, 'launch', 'launches')} with the time of queueing alone: nothing timed the work`]
      : []),
    ...(isComplete ? [] : ['there were more launches: these are the first']),
  ].join('\n');
}
