/** The words of a list with commas between, as options and environment variables have it. */
export function commaList(text = ''): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
