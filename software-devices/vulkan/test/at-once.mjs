// @ts-check
import { spawn } from 'node:child_process';

/**
 * Runs a script of Node twice at once; what each printed, and how it ended.
 *
 * @param {readonly string[]} args the script and its arguments
 * @param {NodeJS.ProcessEnv} env
 */
export async function runTwiceAtOnce(args, env) {
  const runs = await Promise.all(
    [1, 2].map(async () => {
      const child = spawn(process.execPath, args, { env });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
      const code = await new Promise((resolve) => child.once('close', resolve));
      return { code, output };
    }),
  );
  return {
    codes: runs.map(({ code }) => code),
    /** The number of those that printed it. */
    count: (/** @type {string} */ text) => runs.filter(({ output }) => output.includes(text)).length,
  };
}
