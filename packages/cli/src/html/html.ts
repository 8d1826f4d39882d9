/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** The values of a template: text is escaped, HTML is not, a list is joined, nothing is left out. */
export type HtmlPart = string | number | Html | readonly HtmlPart[] | undefined | false;

/** A template of HTML that escapes whatever is put into it: ``html`<b>${name}</b>` ``. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(strings.reduce((text, string, i) => text + render(parts[i - 1]) + string));
}

function render(part: HtmlPart): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
