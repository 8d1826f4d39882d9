/** Words that say nothing about what a text is about. */
const STOP_WORDS = new Set(
  `a about all also am an and any are as at be been but by can could did do does for from had has have he her his how i if
  in into is it its me my no nor not of on or our she should so some such than that the their them then there these they
  this those to too us was we were what when where which who why will with would you your`.split(/\s+/),
);

/** The words of a text that count: in lower case, without addresses, stop words and single letters. */
export function tokenize(text: string): string[] {
  const prose = text.normalize('NFKC').replace(/\bhttps?:\/\/\S+/gi, ' ');
  const words = prose.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word) && !/^[a-z]$/.test(word));
}
