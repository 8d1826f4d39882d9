/** Lines of a shader that differ in a number, 0 to `count - 1`: a loop that is unrolled in the source. */
export function repeat(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join('\n');
}
