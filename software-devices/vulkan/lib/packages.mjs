// @ts-check
// Debian packages, fetched and unpacked without being installed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, run } from './system.mjs';

/** Packages in a cache. They are kept: a damaged device is then mended without the network. */
export class PackageStore {
  #folder;
  #lists;
  #say;

  // apt reads the system's package lists first. Where they lack a package or are too old to fetch it, our own lists
  // come in: that works without root, and leaves the system's as they are.
  #useOwnLists = false;

  /**
   * @param {string} cache the folder to keep them in
   * @param {(line: string) => void} say tells people of each step
   */
  constructor(cache, say) {
    this.#folder = join(cache, 'packages');
    this.#lists = join(cache, 'lists');
    this.#say = say;
  }

  /**
   * Downloads packages, unless they are there already.
   *
   * @param {readonly string[]} names
   * @returns {string[]} the files, in the same order
   */
  download(names) {
    mkdirSync(this.#folder, { recursive: true });
    /** @type {Set<string>} */
    const reasons = new Set();
    const attemptFetch = () => {
      try {
        return this.#fetch(names);
      } catch (error) {
        reasons.add(error instanceof Error ? error.message : String(error));
        return undefined;
      }
    };
    const files = attemptFetch();
    if (files) return files;
    if (!this.#useOwnLists && existsSync(this.#lists)) {
      this.#useOwnLists = true;
      const found = attemptFetch();
      if (found) return found;
    }
    this.#say('reading the package lists anew');
    this.#useOwnLists = true;
    mkdirSync(join(this.#lists, 'partial'), { recursive: true });
    // One broken source among many makes this fail and need not matter, so it is only a reason if the next line fails.
    const update = attempt('apt-get', this.#apt('update', '-qq'));
    if (!update.ok) reasons.add(`apt-get update: ${update.reason}`);
    const last = attemptFetch();
    if (!last) throw new Error([...reasons].join('; '));
    return last;
  }

  /**
   * The packages that some packages need and this system lacks, themselves included.
   *
   * @param {readonly string[]} names
   */
  missing(names) {
    const plan = run('apt-get', this.#apt('install', '--simulate', '--no-install-recommends', ...names));
    return [...plan.matchAll(/^Inst (\S+) /gm)].map(([, name = '']) => name);
  }

  /** @param {string[]} args */
  #apt(...args) {
    const always = [
      'APT::Sandbox::User=',
      'APT::Update::Error-Mode=any',
      'Acquire::Retries=2',
      'Acquire::Languages=none',
    ];
    const own = [`Dir::State::Lists=${this.#lists}`, 'Acquire::GzipIndexes=true', 'Dir::Cache::srcpkgcache='];
    own.push(`Dir::Cache::pkgcache=${join(this.#lists, 'pkgcache.bin')}`);
    return [...always, ...(this.#useOwnLists ? own : [])].flatMap((option) => ['-o', option]).concat(args);
  }

  /** @param {readonly string[]} names */
  #fetch(names) {
    const store = this.#folder;
    const wanted = this.#describe(names);
    const fileOf = (/** @type {string} */ prefix) => readdirSync(store).find((file) => file.startsWith(prefix));
    const absent = wanted.filter(({ name, prefix, sha256 }) => {
      for (const file of readdirSync(store).filter((candidate) => candidate.startsWith(`${name}_`)))
        // apt itself takes any file of the right size for the package. Damaged ones and older versions go.
        if (!file.startsWith(prefix) || hashOf(join(store, file)) !== sha256) rmSync(join(store, file));
      return fileOf(prefix) === undefined;
    });
    if (absent.length > 0) {
      this.#say(`fetching ${absent.map(({ name }) => name).join(', ')}`);
      // It checks what arrives.
      run('apt-get', this.#apt('download', '-qq', ...absent.map(({ name }) => name)), { cwd: store });
    }
    return wanted.map(({ name, prefix }) => {
      const file = fileOf(prefix);
      if (!file) throw new Error(`${name} was fetched, and is not there`);
      return join(store, file);
    });
  }

  /** The versions that apt would download, from its lists. @param {readonly string[]} names */
  #describe(names) {
    const shown = run('apt-cache', this.#apt('show', '--no-all-versions', ...names)).split('\n\n');
    return names.map((name) => {
      const about = shown.find((paragraph) => paragraph.startsWith(`Package: ${name}\n`)) ?? '';
      const field = (/** @type {string} */ key) => new RegExp(`^${key}: (.*)$`, 'm').exec(about)?.[1] ?? '';
      if (!field('SHA256')) throw new Error(`${name} is in no package list`);
      return { name, prefix: `${name}_${field('Version').replaceAll(':', '%3a')}_`, sha256: field('SHA256') };
    });
  }
}

const hashOf = (/** @type {string} */ file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** @param {string} file @param {string} field */
export const packageField = (file, field) => run('dpkg-deb', ['--field', file, field]).trim();

/**
 * Unpacks those files of a package that match.
 *
 * @param {string} file
 * @param {string} folder
 * @param {string[]} patterns
 */
export function unpack(file, folder, patterns) {
  mkdirSync(folder, { recursive: true });
  const script =
    'set -o pipefail; from=$1 to=$2; shift 2; dpkg-deb --fsys-tarfile "$from" | tar -x -C "$to" --wildcards "$@"';
  run('bash', ['-c', script, 'unpack', file, folder, ...patterns]);
}
