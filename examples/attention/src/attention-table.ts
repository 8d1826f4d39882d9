/** Words shown of those that a word attends to. */
const SHOWN = 4;

/**
 * The share of its attention that each word gives to each, `[words, words]`: the mean of the heads.
 *
 * @param attended - `[words, heads, columns]`, of which the first `words` columns count
 */
export function sharesOf(words: number, attended: Float32Array, heads: number): number[][] {
  const columns = attended.length / heads / words;
  return Array.from({ length: words }, (_row, i) =>
    Array.from({ length: words }, (_column, j) => {
      let sum = 0;
      for (let head = 0; head < heads; head++) sum += attended[(i * heads + head) * columns + j] as number;
      return sum / heads;
    }),
  );
}

/** One line for each word: those it attends to, in per cent, the largest share first. */
export function attentionTable(words: readonly string[], shares: readonly (readonly number[])[]): string {
  const width = Math.max('word'.length, ...words.map((word) => word.length));
  const lines = words.map((word, i) => {
    const cells = words
      .map((other, j) => ({ other, percent: Math.round(100 * (shares[i]?.[j] as number)) }))
      .filter(({ percent }) => percent > 0)
      .sort((a, b) => b.percent - a.percent)
      .slice(0, SHOWN)
      .map(({ other, percent }) => `${other} ${percent}%`.padEnd(width + 5));
    return `${word.padEnd(width)}  ${cells.join('  ')}`.trimEnd();
  });
  return [`${'word'.padEnd(width)}  attends to`, ...lines].join('\n');
}
