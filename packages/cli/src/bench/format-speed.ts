import { formatDuration } from '../output/format.ts';

/** A speed or a ratio with three digits, or all before the point: `0.0512`, `5.12`, `51.2`, `5,120`. */
export function formatSpeed(value: number): string {
  if (!(value > 0) || value >= 99.95) return Math.round(value).toLocaleString('en');
  const digits = Math.min(6, 2 - Math.floor(Math.log10(value)));
  return value.toFixed(digits);
}

/** The time of a call: `0.35 ms`, `12.3 ms`, `2.5 s`. */
export function formatCallTime(ms: number): string {
  return ms < 999.5 ? `${formatSpeed(ms)} ms` : formatDuration(ms);
}

/** A ratio with two digits, or all before the point: `0.042x`, `0.42x`, `4.2x`, `42x`, `420x`. */
export function formatRatio(ratio: number): string {
  if (ratio >= 9.95) return `${Math.round(ratio).toLocaleString('en')}x`;
  return `${ratio > 0 ? ratio.toFixed(Math.min(6, 1 - Math.floor(Math.log10(ratio)))) : 0}x`;
}
