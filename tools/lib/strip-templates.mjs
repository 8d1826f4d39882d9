// @ts-check

/** A comment or a string: backticks and braces in it have no meaning. */
const SKIPPED = /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"/y;
/** The text of a template literal up to its end or to the next `${`. */
const TEXT = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;

/**
 * Takes indentation and whole-line comments out of the text of a module's template literals, which hold shaders: no
 * bundler's minifier looks into a string. Lines stay where they are, so that source maps and the line numbers of a
 * shader compiler still fit. For modules without regular expressions that hold a quote or a backtick.
 *
 * @param {string} source
 */
export function stripTemplates(source) {
  /** Braces that are open in each `${`, the innermost last; empty outside of templates. @type {number[]} */
  const holes = [];
  let result = '';
  let place = 0;
  const take = (/** @type {RegExp} */ pattern) => {
    pattern.lastIndex = place;
    const [taken = ''] = pattern.exec(source) ?? [];
    place += taken.length;
    return taken;
  };
  const takeText = () => {
    result += take(TEXT)
      .replace(/\n[ \t]+/g, '\n')
      .replace(/(?<=\n)\/\/[^\n]*/g, '');
    const end = source[place] === '$' ? '${' : '`';
    if (end === '${') holes.push(0);
    result += end;
    place += end.length;
  };
  while (place < source.length) {
    const skipped = take(SKIPPED);
    result += skipped;
    if (skipped !== '') continue;
    const character = source[place++] ?? '';
    result += character;
    const open = holes.length - 1;
    if (character === '`') takeText();
    else if (character === '{' && open >= 0) holes[open] = (holes[open] ?? 0) + 1;
    else if (character === '}' && open >= 0) {
      const left = (holes[open] ?? 0) - 1;
      holes[open] = left;
      if (left >= 0) continue;
      holes.pop();
      takeText();
    }
  }
  return result;
}
