import type { BenchJson } from '@concord/cli';

/** A device of the table: what `concord bench --size small` measured on it. */
export interface MeasuredDevice {
  readonly device: string;
  readonly backend: string;
  /** The browser or the runtime. */
  readonly host: string;
  /** The day, `2026-11-28`. */
  readonly date: string;
  /** The speed in each case, in GFLOP/s or GB/s. */
  readonly speeds: Readonly<Record<string, number>>;
}

/** The columns of the table: a case of the small benchmark, and its heading. */
export const COLUMNS: readonly (readonly [id: string, heading: string])[] = [
  ['gemm/square/128x128x128', 'product 128, GFLOP/s'],
  ['conv2dForward/layer/n1c32x14-k32-1x1', 'convolution, GFLOP/s'],
  ['attention/heads/2x64x64-d32', 'attention, GFLOP/s'],
  ['binary/elements/add-65536', 'add, GB/s'],
  ['run/rows/softmax-256x256', 'softmax, GB/s'],
];

/** What a benchmark measured, a device for each backend. Only whole runs have a place among the others. */
export function devicesOf({ interrupted, op, date, versions, backends, cases }: BenchJson): readonly MeasuredDevice[] {
  if (interrupted || op !== undefined) return [];
  return backends.flatMap(({ backend, device }) => {
    if (device === null) return [];
    const speeds = cases.flatMap(({ id, results }) => {
      const speed = results.find((each) => each.backend === backend)?.speed?.median;
      return speed === undefined ? [] : [[id, Number(speed.toPrecision(3))] as const];
    });
    return {
      device: device.name,
      backend,
      host: versions.host,
      date: date.slice(0, 10),
      speeds: Object.fromEntries(speeds),
    };
  });
}

/** The name of a device's file in the repository. */
export function fileNameOf({ device, backend }: MeasuredDevice): string {
  return `${backend}-${device
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')}.json`;
}
