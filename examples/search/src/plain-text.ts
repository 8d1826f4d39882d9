const HTML_TAG =
  /<\/?(?:a|b|br|center|code|details|div|em|h[1-6]|hr|i|img|kbd|li|ol|p|picture|pre|samp|section|source|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|ul)\b[^<>]*>/gi;

/**
 * Markdown without what nobody searches for: badges, link targets, HTML tags and comments, the marks
 * around code and the lines under headings. Lines stay where they are,
 * so that a position in the result is one in the file.
 */
export function plainText(markdown: string): string {
  return markdown
    .replace(/<!--[\s\S]*?-->/g, keepLines)
    .replace(HTML_TAG, keepLines)
    .replace(/!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])/g, keepLines)
    .replace(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, (link: string, text: string) => text + linesOf(link, text))
    .replace(/^ {0,3}\[[^\]]+\]:[ \t]*\S+.*$/gm, '')
    .replace(/^[ \t]*(?:```|~~~).*$/gm, '')
    .replace(/^[ \t=*_~|:+-]+$/gm, '');
}

function keepLines(removed: string): string {
  return removed.replace(/[^\n]+/g, '');
}

/** The line breaks of `link` that `text` lacks. */
function linesOf(link: string, text: string): string {
  return '\n'.repeat(link.split('\n').length - text.split('\n').length);
}
