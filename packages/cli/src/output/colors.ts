import picocolors from 'picocolors';
import type { Output } from '../context.ts';

/** The functions that colour text, or leave it as it is. */
export type Colors = ReturnType<typeof picocolors.createColors>;

/**
 * Colours for one stream. The library's own test looks at stdout only and colours pipes on CI machines; stdout and
 * stderr are often different things.
 */
export function colorsFor(output: Output): Colors {
  return picocolors.createColors(wantsColor(output, process.env));
}

function wantsColor(output: Output, env: NodeJS.ProcessEnv): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'] ?? '';
  if (forced !== '') return forced !== '0';
  return output.isTTY === true && env['TERM'] !== 'dumb';
}
