// @ts-check
// A program that comes as a package of npm for each platform, with the executable in it. It goes to this checkout's cache.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} NpmProgram
 * @property {string} name
 * @property {string} version exactly this one
 * @property {Record<string, string>} packages the package of each platform and architecture, as `linux-x64`
 * @property {string} file the executable in the package, without what Windows adds
 * @property {string} size what comes over the network, for people
 */
/** @typedef {{ path: string } | { path: undefined, reason: string }} Found the executable, or why there is none */

/** All that set-up downloads is in this folder. */
const cache =
  process.env['CONCORD_PROGRAMS_CACHE'] ?? fileURLToPath(new URL('../../../.cache/programs', import.meta.url));

/** @param {NpmProgram} program */
const folderOf = ({ name, version }) => join(cache, `${name}-${version}`);

/** @param {NpmProgram} program */
const packageOf = ({ packages }) => packages[`${process.platform}-${process.arch}`];

/** @param {NpmProgram} program @param {string} folder */
const executableIn = ({ file }, folder) => join(folder, process.platform === 'win32' ? `${file}.exe` : file);

/**
 * The executable as set-up left it, or undefined where it is missing or damaged.
 *
 * @param {NpmProgram} program
 * @returns {string | undefined}
 */
export function readyProgram(program) {
  try {
    const path = executableIn(program, folderOf(program));
    const { bytes } = JSON.parse(readFileSync(join(folderOf(program), 'ready.json'), 'utf8'));
    return statSync(path).size === bytes ? path : undefined;
  } catch {
    // A file is missing, or the note is cut off: not ready.
    return undefined;
  }
}

/**
 * The executable, fetched with npm if it is not here, unless `CONCORD_NO_INSTALL=1`.
 *
 * @param {NpmProgram} program
 * @returns {Found}
 */
export function setUpProgram(program) {
  const ready = readyProgram(program);
  if (ready !== undefined) return { path: ready };
  const { name, version, size } = program;
  const wanted = packageOf(program);
  if (wanted === undefined) return missing(`${name} has no package for ${process.platform} on ${process.arch}`);
  if (process.env['CONCORD_NO_INSTALL']) {
    return missing(
      `${name} ${version} is not here, and CONCORD_NO_INSTALL is set; run: node software-devices/${name}/setup.mjs`,
    );
  }
  console.log(`${name}: fetching ${wanted} ${version} from npm (${size}) into .cache`);
  mkdirSync(cache, { recursive: true });
  // Made beside its place and moved there: two set-ups at once do the work twice and do no harm.
  const work = mkdtempSync(join(cache, 'work-'));
  try {
    fetchInto(work, `${wanted}@${version}`);
    const fetched = join(work, 'node_modules', wanted);
    const path = executableIn(program, fetched);
    const said = spawnSync(path, ['--version'], { encoding: 'utf8' });
    if (!said.stdout?.includes(version))
      return missing(`${name} does not run: ${said.error?.message ?? said.stderr.trim()}`);
    writeFileSync(join(fetched, 'ready.json'), JSON.stringify({ bytes: statSync(path).size }));
    rmSync(folderOf(program), { recursive: true, force: true });
    renameSync(fetched, folderOf(program));
  } catch (error) {
    if (readyProgram(program) === undefined)
      return missing(`${name} could not be fetched: ${/** @type {Error} */ (error).message}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return { path: executableIn(program, folderOf(program)) };
}

/** @param {string} reason */
const missing = (reason) => ({ path: undefined, reason });

/** npm checks what arrives. @param {string} folder @param {string} wanted */
function fetchInto(folder, wanted) {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const options = { cwd: folder, encoding: /** @type {const} */ ('utf8'), shell: process.platform === 'win32' };
  const { status, error, stderr } = spawnSync(npm, ['install', wanted, ...quiet], options);
  if (status !== 0) throw new Error(error?.message ?? stderr.trim().split('\n').slice(-2).join('; '));
}

/**
 * The main of a `setup.mjs`: sets up, and prints the path.
 *
 * @param {NpmProgram} program
 */
export function runSetUp(program) {
  const found = setUpProgram(program);
  if (found.path !== undefined) console.log(found.path);
  else console.error(`${program.name}: not available: ${found.reason}`);
  process.exitCode = found.path !== undefined ? 0 : 1;
}
