/** Control characters but for tabs and ends of lines, line separators, and what changes the direction of text. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Text of a driver, a file or anybody else as it may go to a terminal: what would move the cursor, change colours or hide
 * what is there is spelt out, such as `\u001b`. Ends of lines and tabs are kept.
 */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
