const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** A size in binary units with about three digits: `512 B`, `1.5 KiB`, `16 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes >= Number.MAX_SAFE_INTEGER) return 'no limit';
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${Number.isInteger(value) || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** A duration as people say it: `340 ms`, `12.3 s`, `4 min 05 s`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** `1 case`, `2 cases`; `2 axes`, where `words` is not `word` with an s. */
export function plural(count: number, word: string, words = `${word}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? word : words}`;
}

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
