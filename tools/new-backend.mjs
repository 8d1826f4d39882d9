// @ts-check
// `new-backend.mjs <name>`: a package for a new backend that is complete but for its kernels. docs/writing-a-backend.md
// goes on from there. `--checkout <folder>` writes into another checkout and installs nothing.
import { parseArgs } from 'node:util';
import { generateBackend } from './lib/generate-backend.mjs';
import { root } from './lib/paths.mjs';
import { run, runMain } from './lib/run.mjs';

const USAGE = 'usage: npm run new-backend -- <name>, such as my-device';

await runMain(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { checkout: { type: 'string' } } });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) throw new Error(USAGE);
  const checkout = values.checkout ?? root;
  const { folder, written, changed } = generateBackend(name, checkout);
  // The templates cannot be formatted for every name: it makes lines longer or shorter.
  const sources = written.filter((file) => !file.endsWith('.md'));
  const formatted = await run('oxfmt', sources, { cwd: checkout });
  if (formatted !== 0) return formatted;
  for (const file of written) console.log(`wrote ${file}`);
  for (const file of changed) console.log(`changed ${file}`);
  if (values.checkout === undefined) {
    const installed = await run('pnpm', ['install', '--prefer-offline']);
    if (installed !== 0) return installed;
  }
  console.log(`
Next, in ${folder}:
  npm test -- --project backend-${name}     passes; every op is UNSUPPORTED, with a reason
  src/device.ts, src/${name}-backend.ts     the device and its memory instead of arrays of the host
  src/kernels/*.ts                          one family after the other: the kernel, then its element types
docs/writing-a-backend.md says how, docs/contract.md what.`);
  return 0;
});
