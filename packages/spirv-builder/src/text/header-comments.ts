import { parseGenerator } from './generators.ts';

/** What the header of a module says besides its magic number, as far as it is known. */
export interface HeaderComments {
  version?: number | undefined;
  generator?: number | undefined;
  bound?: number | undefined;
  schema?: number | undefined;
}

/** The header that the comment lines at the start of a text tell of, as `disassemble` writes them. */
export function readHeaderComments(text: string): HeaderComments {
  const fields: HeaderComments = {};
  for (const line of text.split('\n')) {
    const comment = /^\s*(?:;\s*(.*?)\s*)?$/.exec(line);
    if (!comment) break;
    const [, name, value = ''] = /^(\w+): (.*)$/.exec(comment[1] ?? '') ?? [];
    const number = /^\d{1,10}$/.test(value) && Number(value) <= 0xffff_ffff ? Number(value) : undefined;
    if (name === 'Version') fields.version = parseVersion(value);
    if (name === 'Generator') fields.generator = parseGenerator(value);
    if (name === 'Bound') fields.bound = number;
    if (name === 'Schema') fields.schema = number;
  }
  return fields;
}

/** The version word of "1.2"; undefined when it is none. */
export function parseVersion(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})$/.exec(text);
  const [major = 0, minor = 0] = match?.slice(1).map(Number) ?? [];
  return match && major <= 0xff && minor <= 0xff ? (major << 16) | (minor << 8) : undefined;
}
