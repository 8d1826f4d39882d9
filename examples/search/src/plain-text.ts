/** Text that is not searched: comments, HTML tags, badges, link definitions, the marks around code, lines under headings. */
const NOISE =
  /<!--.*?-->|<\/?(?:a|b|br|center|code|details|div|em|h[1-6]|hr|i|img|kbd|li|ol|p|picture|pre|source|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|ul)\b[^<>]*>|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|^ {0,3}\[[^\]]+\]:[ \t]*\S+.*$|^[ \t]*(?:```|~~~).*$|^[ \t=*_~|:+-]+$/gi;

/** A line of Markdown without noise and the targets of links. */
export function plainText(line: string): string {
  return line.replace(NOISE, '').replace(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1');
}
