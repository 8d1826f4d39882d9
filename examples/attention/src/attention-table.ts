/** How many of the words that a word attends to are shown. */
const SHOWN = 4;

/**
 * One line a word: those it attends to, most first, in per cent.
 *
 * @param attended - heads x words x columns; the mean of the heads is shown
 */
export function attentionTable(words: readonly string[], attended: Float32Array, heads: number): string {
  const columns = attended.length / heads / words.length;
  const wide = Math.max('word'.length, ...words.map((word) => word.length));
  const lines = words.map((word, i) => {
    const shares = words.map((other, j) => {
      let share = 0;
      for (let head = 0; head < heads; head++) share += attended[(head * words.length + i) * columns + j] as number;
      return { other, percent: Math.round((100 * share) / heads) };
    });
    const most = shares.filter(({ percent }) => percent > 0).sort((a, b) => b.percent - a.percent);
    const cells = most.slice(0, SHOWN).map(({ other, percent }) => `${other} ${percent}%`.padEnd(wide + 5));
    return `${word.padEnd(wide)}  ${cells.join('  ')}`.trimEnd();
  });
  return [`${'word'.padEnd(wide)}  attends to`, ...lines].join('\n');
}
