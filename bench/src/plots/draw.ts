import { reasonOf } from '../reason.ts';
import { type Results, saveText } from '../results.ts';
import { plotsOf } from './series.ts';
import { specOf } from './spec.ts';

/** Draws every op of a run into an SVG of the folder. Where Vega is not installed, says so. */
export async function drawResults(folder: URL, results: Results): Promise<void> {
  try {
    const [vega, lite] = await Promise.all([import('vega'), import('vega-lite')]);
    const { device, driver, date } = results;
    for (const plot of plotsOf(results)) {
      const spec = specOf(plot, `${plot.name}, ${device}`, driver === undefined ? date : `${driver}; ${date}`);
      const view = new vega.View(vega.parse(lite.compile(spec).spec), { renderer: 'none' });
      saveText(new URL(`${plot.name}.svg`, folder), `${await view.toSVG()}\n`);
      view.finalize();
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error(`no plots: ${reasonOf(error)}; \`pnpm bench report\` draws them where it is`);
  }
}
