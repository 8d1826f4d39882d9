/** Breaks a text at blanks into lines of at most `width` characters; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S.{0,${width - 1}}(?!\\S)|\\S+`, 'g')) ?? [];
}
