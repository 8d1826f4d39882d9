// @ts-check
// `npm start`: the devices of this machine, then one search over real files, checked against the oracle.
// `npm start -- "another question" --top 3` replaces the question and its options.
import { driverNoise } from './lib/driver-noise.mjs';
import { prepare } from './lib/prepare.mjs';
import { run, runMain } from './lib/run.mjs';
import { softwareLevelZero, softwareVulkan } from './lib/software-devices.mjs';

const given = process.argv.slice(2);
const search = given.length > 0 ? given : ['how do I report a security problem', '--check'];

await runMain(async () => {
  const prepared = await prepare();
  if (prepared !== 0) return prepared;
  const wanted = process.env['CONCORD_BACKEND'] ?? '';
  const env = {
    ...softwareVulkan({ isWanted: /\bwebgpu\b/.test(wanted) }),
    ...softwareLevelZero({ isWanted: /\blevel-zero\b/.test(wanted) }),
  };
  // Without the messages of drivers on stderr.
  const options = search.includes('--verbose') ? { env } : { env, isShown: driverNoise() };
  const node = (/** @type {string[]} */ ...args) => run(process.execPath, args, options);
  return (
    (await node('packages/cli/bin/concord.js', 'devices')) || (await node('examples/search/dist/main.js', ...search))
  );
});
