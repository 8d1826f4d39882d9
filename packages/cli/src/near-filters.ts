import { nearIds } from './near-ids.ts';

/** Filters that select something and are like one that selects nothing: ops, folders with a glob, and ids. */
export function nearFilters(filter: string, cases: readonly { readonly id: string; readonly op: string }[]): string[] {
  const ops = [...new Set(cases.map(({ op }) => op))];
  if (!filter.includes('/')) return nearIds(filter, ops, 2);
  const folders = new Set(cases.flatMap(({ id }) => foldersOf(id)));
  const [, folder = filter, rest = ''] = /^(.*?)(\/[^/]*\*.*)?$/.exec(filter) ?? [];
  if (rest !== '') return nearIds(folder, [...folders], 2).map((near) => `${near}/**`);
  return nearIds(
    filter,
    cases.map(({ id }) => id),
    2,
  );
}

/** `gemm` and `gemm/exact` of `gemm/exact/m=17`. */
function foldersOf(id: string): string[] {
  const parts = id.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
