/** A piece of a document, and the line, from 1, on which it starts. */
export type Passage = Readonly<{ file: string; line: number; text: string }>;

const MAX_WORDS = 120;
/** Words of a passage that the end of a paragraph ends, or a new heading. */
const LEAST = { paragraph: 80, heading: 20 };

/** Cuts the text of a file into passages of up to 120 words, along its headings and paragraphs where these are not longer. */
export function cutPassages(file: string, text: string): Passage[] {
  const passages: Passage[] = [];
  const words: string[] = [];
  let start = 0;
  const end = (min: number): void => {
    if (words.length >= min) passages.push({ file, line: start, text: words.splice(0).join(' ') });
  };
  const lines = text.split(/\r\n|\r|\n/).map(plainText);
  for (const [index, line] of lines.entries()) {
    if (/^#{1,6}\s/.test(line)) end(LEAST.heading);
    if (line.trim() === '') end(LEAST.paragraph);
    for (const word of line.match(/\S+/g) ?? []) {
      if (words.push(word) === 1) start = index + 1;
      end(MAX_WORDS);
    }
  }
  end(1);
  return passages;
}

/** Text that is not searched: comments, HTML tags, badges, link definitions, the marks around code, lines under headings. */
const NOISE =
  /<!--.*?-->|<\/?(?:a|b|br|center|code|details|div|em|h[1-6]|hr|i|img|kbd|li|ol|p|picture|pre|source|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|ul)\b[^<>]*>|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|^ {0,3}\[[^\]]+\]:[ \t]*\S+.*$|^[ \t]*(?:```|~~~).*$|^[ \t=*_~|:+-]+$/gi;

/** A line of Markdown without noise and the targets of links. */
export function plainText(line: string): string {
  return line.replace(NOISE, '').replace(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1');
}
