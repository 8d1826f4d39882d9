// @ts-check
// `npm start`: the devices of this machine, then one search over real files, checked against the oracle.
// `npm start -- "another question" --top 3` replaces the question and its options.
import { withoutDriverNoise } from './lib/driver-noise.mjs';
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
  return (
    (await runQuietly(['packages/cli/bin/concord.js', 'devices'], env)) ||
    (await runQuietly(['examples/search/dist/main.js', ...search], env))
  );
});

/**
 * Runs a program of this repository without the messages of drivers on stderr; `--verbose` keeps them.
 *
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 */
async function runQuietly(args, env) {
  if (search.includes('--verbose')) return run(process.execPath, args, { env });
  const filter = withoutDriverNoise((text) => process.stderr.write(text));
  const code = await run(process.execPath, args, { env, onStderr: (text) => filter.add(text) });
  filter.end();
  return code;
}
