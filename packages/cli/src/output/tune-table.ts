import type { TunedClass } from '../tune/tune-run.ts';
import type { Colors } from './colors.ts';
import { plainTable } from './table.ts';

/** The fastest variant for each shape, how it compares with the plan's own choice, and below it what failed. */
export function tuneTable(classes: readonly TunedClass[], colors: Colors): string {
  const rows = classes.map(({ benchCase, chosen, preferred, measured, failures }) => {
    const [own, best] = [measured[preferred], measured[chosen]];
    const gain = own === undefined || best === undefined ? '' : `${(own / best).toFixed(2)}x`;
    const count = Object.keys(measured).length + Object.keys(failures).length;
    return [benchCase.id, chosen === preferred ? chosen : colors.green(chosen), gain, String(count)];
  });
  const table = plainTable(['Shape', 'Kept', 'Gain', 'Of'], rows, colors, { right: [2, 3] });
  const notes = classes.flatMap(({ benchCase, failures }) =>
    Object.entries(failures).map(([variant, why]) => `${colors.red('FAILED')} ${variant} at ${benchCase.id}: ${why}`),
  );
  return [table, ...notes].join('\n');
}
