import { type Standing, standingsOf } from './ratios.ts';
import type { Results } from './results.ts';
import { row, table } from './table.ts';

/** All runs in one table: for each op, on each device, how far ours is from the limit and from the fastest peer. */
export function formatSummary(all: readonly Results[]): string {
  const rows = all.flatMap((results) => {
    const standings = standingsOf(results);
    return [...new Set(standings.map(({ result }) => result.op))].map((op) => {
      const ofOp = standings.filter(({ result }) => result.op === op);
      return row(
        ...[results.arena, op, casesOf(ofOp)],
        range(ofOp.map(({ ofLimit }) => ofLimit)),
        range(ofOp.map(({ overPeer }) => overPeer)),
        fastestPeers(ofOp),
      );
    });
  });
  return table(['results', 'op', 'cases', 'of the limit', 'against the fastest peer', 'which is'], rows);
}

/** The name of a case, or the first and the last of several. */
function casesOf(standings: readonly Standing[]): string {
  const names = standings.map(({ result }) => result.case);
  return names.length < 2 ? names.join() : `${names.length}, ${names[0]} to ${names.at(-1)}`;
}

function range(values: readonly (number | undefined)[]): string {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return '–';
  const [least, most] = [Math.min(...known), Math.max(...known)].map((value) => `${value.toFixed(2)}x`) as [
    string,
    string,
  ];
  return least === most ? least : `${least} to ${most}`;
}

function fastestPeers(standings: readonly Standing[]): string {
  const names = standings.flatMap(({ peer }) => (peer === undefined ? [] : [peer.name]));
  return names.length === 0 ? '–' : [...new Set(names)].join(', ');
}
