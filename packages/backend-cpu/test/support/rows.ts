/** Rows of a table in text, apart by semicolons: numbers as JavaScript reads them, other words as they are. */
export function rows<Row extends readonly (number | string)[]>(text: string): Row[] {
  const valueOf = (word: string): number | string =>
    word === 'NaN' || !Number.isNaN(Number(word)) ? Number(word) : word;
  return text.split(';').map((row) => row.trim().split(/\s+/).map(valueOf) as unknown as Row);
}
