// @ts-check
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled, markInstalled } from './install-stamp.mjs';
import { root } from './paths.mjs';
import { run } from './run.mjs';

const { packageManager, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Node older than `engines` fails in a hundred strange ways later; say it once, here. */
function checkNode() {
  const wanted = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = wanted.split('.').map(Number);
  if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
    throw new Error(
      `Concord needs Node ${wanted} or newer, this is ${process.versions.node}.\n` +
        'hint: https://nodejs.org/en/download has current versions; with nvm: nvm install 22',
    );
  }
}

async function install() {
  console.log(`Installing dependencies with ${packageManager} ...`);
  const code = await run('npx', ['--yes', packageManager, 'install', '--frozen-lockfile']);
  if (code > 128) return code;
  if (code !== 0) {
    throw new Error(
      `Installing the dependencies failed (exit code ${code}); the lines above say why.\n` +
        'hint: the first run needs the npm registry. Check the connection with `npm ping`; behind a proxy set\n' +
        '      HTTPS_PROXY and NODE_EXTRA_CA_CERTS. If package.json was changed, run `pnpm install` to renew the lockfile.',
    );
  }
  markInstalled(root);
  return 0;
}

/**
 * Makes the checkout ready to run: installs the packages of the lockfile and builds every package. Steps that are already done
 * are skipped.
 *
 * @returns {Promise<number>} 0, or the exit code of the step that failed
 */
export async function prepare() {
  checkNode();
  if (!isInstalled(root)) {
    const code = await install();
    if (code !== 0) return code;
  }
  return run('turbo', ['run', 'build', '--output-logs=errors-only', '--log-prefix=none']);
}
