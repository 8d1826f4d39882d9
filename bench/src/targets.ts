import { readFileSync } from 'node:fs';
import type { OverheadTarget } from './overhead.ts';
import type { Target } from './ratios.ts';

/** What is wanted of us: `limits/targets.json`. */
export function loadTargets(): Target[] {
  return loadList('targets.json');
}

/** What is wanted besides: `limits/overhead-targets.json`. */
export function loadOverheadTargets(): OverheadTarget[] {
  return loadList('overhead-targets.json');
}

function loadList<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../limits/${name}`, import.meta.url), 'utf8')) as T[];
}
