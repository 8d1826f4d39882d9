/**
 * Makes `console.log` of Node, Deno and Bun print the text of `toString`, which reads nothing back, instead of the
 * fields.
 */
export function showAsText(of: { readonly prototype: { toString(): string } }): void {
  const { prototype } = of;
  Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
    value(this: typeof prototype) {
      return this.toString();
    },
  });
}
