// @ts-check
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runQuietly, strangersEnvironment } from './run-quietly.mjs';

/** The last version for Node 20. */
const MANIFEST = {
  private: true,
  dependencies: { verdaccio: '6.8.0' },
  // It asks for a tag, which may move and which not every registry has.
  overrides: { 'node-fetch': '2.7.0' },
};

/** @returns {Promise<number>} a port that is free */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/**
 * Starts a registry on this machine, empty but for what others it hands on.
 *
 * @param {string} folder where it lives; made here
 * @returns {Promise<{ url: string, env: NodeJS.ProcessEnv, stop(): void }>} `env` makes npm use it, and publish to it
 */
export async function startRegistry(folder) {
  mkdirSync(folder);
  const stranger = strangersEnvironment();
  const upstream = runQuietly('npm', ['config', 'get', 'registry'], { cwd: folder, env: stranger, isSilent: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(MANIFEST));
  runQuietly(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--prefer-offline'],
    {
      ...{ cwd: folder, env: stranger },
    },
  );
  const url = `http://127.0.0.1:${await freePort()}/`;
  const config = {
    ...{ storage: './storage', listen: url, web: { enable: false }, max_body_size: '50mb' },
    uplinks: { upstream: { url: upstream.trim() } },
    packages: {
      '@concord/*': { access: '$all', publish: '$all' },
      '**': { access: '$all', proxy: 'upstream' },
    },
    log: { type: 'stdout', level: 'error' },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  // npm does not publish without a token, and the registry asks for none.
  writeFileSync(join(folder, 'npmrc'), `registry=${url}\n${url.slice('http:'.length)}:_authToken=nobody\n`);
  const server = spawn(process.execPath, ['node_modules/verdaccio/bin/verdaccio', '--config', 'config.yaml'], {
    ...{ cwd: folder, env: stranger, stdio: ['ignore', 'inherit', 'inherit'] },
  });
  const stop = () => void server.kill();
  for (let tries = 0; ; tries++) {
    const isUp = await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) break;
    if (tries === 150 || server.exitCode !== null) {
      stop();
      throw new Error('the local registry did not start');
    }
    await sleep(200);
  }
  return { url, env: { ...stranger, npm_config_userconfig: join(folder, 'npmrc'), npm_config_registry: url }, stop };
}
