// @ts-check
import { spawnSync } from 'node:child_process';
import { softwareLevelZero, softwareVulkan } from './software-devices.mjs';

/**
 * Runs a piece of code of a page: on the CPU backend, whose numbers are the same on every machine, or where it is for one device on that.
 *
 * @param {string} page
 * @param {import('./docs-code.mjs').Unit} unit
 * @param {string} program the file it was compiled to
 * @returns {string[]} a problem, or none
 */
export function outputProblem(page, { blocks, prints, on }, program) {
  const at = `${page}:${blocks[0]?.line}`;
  const env = {
    ...{ ...process.env, CONCORD_BACKEND: on ?? process.env['CONCORD_BACKEND'] ?? 'cpu' },
    ...(on === 'webgpu' && softwareVulkan({ isWanted: true })),
    ...(on === 'level-zero' && softwareLevelZero({ isWanted: true })),
  };
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [program], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (error !== undefined || status !== 0) return [`${at}: ends with ${status ?? error?.message}: ${stderr.trim()}`];
  return stdout.trimEnd() === prints?.trimEnd() ? [] : [`${at}: prints\n${stdout.trimEnd()}\nnot\n${prints}`];
}
