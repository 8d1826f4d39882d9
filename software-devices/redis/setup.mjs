// @ts-check
// `setup.mjs` finds a Redis server, or installs Debian's where it may, and prints its path. A second run finds.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findProgram, runSetUp, setUpProgram } from '../chromium/lib/system-program.mjs';

const script = fileURLToPath(import.meta.url);

/** @type {import('../chromium/lib/system-program.mjs').Program} */
const redisServer = {
  name: 'redis-server',
  title: 'Redis server',
  debianPackage: 'redis-server',
  variable: 'REDIS_SERVER_PATH',
  places: {
    linux: ['/usr/bin/redis-server', '/usr/local/bin/redis-server'],
    darwin: ['/opt/homebrew/bin/redis-server', '/usr/local/bin/redis-server'],
  },
  elsewhere: 'apt install redis-server, or brew install redis (or set REDIS_SERVER_PATH)',
  script,
};

const findRedis = () => findProgram(redisServer);

/** The Redis server that is here, or, where there is none, the one that this installs: as root on Debian. */
export const setUpRedis = () => setUpProgram(redisServer, findRedis);

if (process.argv[1] && realpathSync(process.argv[1]) === script) await runSetUp(redisServer, findRedis);
