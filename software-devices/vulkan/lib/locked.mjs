// @ts-check
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { speaker } from './system.mjs';

const BUSY = 75;

/**
 * Runs a set-up script with `--locked`, as the only one in its cache, and waits for another that is at work there. The
 * lock is the child's, so the kernel frees it with that process, however it ends.
 *
 * @param {string} who is being set up, for messages
 * @param {string} cache
 * @param {string} script
 * @param {readonly string[]} [args]
 */
export function runLocked(who, cache, script, args = []) {
  mkdirSync(cache, { recursive: true });
  const lock = (/** @type {string[]} */ ...options) => {
    const command = [...options, join(cache, 'lock'), process.execPath, script, '--locked', ...args];
    const { status, error } = spawnSync('flock', command, { stdio: 'inherit' });
    if (error) console.error(`${who}: not available: flock: ${error.message}`);
    return status;
  };
  if (lock('--nonblock', '--conflict-exit-code', String(BUSY)) !== BUSY) return;
  speaker(who)('another set-up is at work here, waiting for it');
  lock();
}
