/** The ids most like `id`, the nearest first; none where nothing is alike. */
export function nearIds(id: string, ids: readonly string[], count = 3): string[] {
  const wanted = id.toLowerCase();
  const ranked = ids.map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }));
  ranked.sort((one, other) => one.distance - other.distance);
  // Further off than half of what was typed, it is another case.
  return ranked
    .filter(({ distance }) => distance <= id.length / 2)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** Characters to insert, remove or replace to get from one text to the other (Levenshtein). */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}

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
