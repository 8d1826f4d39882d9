/** One parameter of a case. */
export type ParamValue = number | string | boolean | readonly number[];

/** Parameters of a case, flat, so that an id can hold all of them. */
export type Params = Readonly<Record<string, ParamValue>>;

/**
 * Parameters as the last part of a case id: `m=17,n=33,k=65,TN`. What equals its default is left out; a pair of
 * transposes and flags stand alone; lists are written `2x3x4`, a list of one `4x`, an empty one `x`.
 */
export function formatParams<P extends Params>(params: P, defaults: P): string {
  const parts: string[] = [];
  for (const [key, value] of Object.entries(params)) {
    if (String(value) === String(defaults[key])) continue;
    if (key === 'trans' || value === true) parts.push(key === 'trans' ? String(value) : key);
    else if (Array.isArray(value)) parts.push(`${key}=${value.length < 2 ? `${value.join('')}x` : value.join('x')}`);
    else parts.push(`${key}=${String(value)}`);
  }
  return parts.length === 0 ? 'default' : parts.join(',');
}

/** The inverse of {@link formatParams}; undefined where the text does not fit the defaults' names and types. */
export function parseParams<P extends Params>(text: string, defaults: P): P | undefined {
  const params: Record<string, ParamValue> = { ...defaults };
  if (text === 'default') return params as P;
  for (const part of text.split(',')) {
    const [key, raw] = /^[NTC]{2}$/.test(part) ? ['trans', part] : splitPart(part);
    const value = parseValue(raw, defaults[key]);
    if (value === undefined) return undefined;
    params[key] = value;
  }
  return params as P;
}

function splitPart(part: string): [string, string] {
  const at = part.indexOf('=');
  return at < 0 ? [part, 'true'] : [part.slice(0, at), part.slice(at + 1)];
}

function parseValue(raw: string, like: ParamValue | undefined): ParamValue | undefined {
  if (typeof like === 'string') return raw;
  if (typeof like === 'boolean') return raw === 'true' ? true : undefined;
  if (typeof like === 'number') {
    return raw === 'NaN' || (/^-?(\d|Infinity)/.test(raw) && !Number.isNaN(Number(raw))) ? Number(raw) : undefined;
  }
  if (Array.isArray(like))
    return /^(\d+x(\d+(x\d+)*)?|x)$/.test(raw) ? raw.split('x').filter(Boolean).map(Number) : undefined;
  return undefined;
}
