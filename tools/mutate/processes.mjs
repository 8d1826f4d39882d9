// @ts-check
import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of /proc in a second: USER_HZ, 100 on every architecture that Node runs on. */
const TICKS = 100;

/**
 * The resources that a group of processes has used, and whether one of them wants to continue.
 *
 * @typedef {object} Usage
 * @property {number} cpuSeconds - of all of them, those that have ended included
 * @property {boolean} isWaiting - none is running, ready to run, or waiting for a disk
 */

/** The looks by which {@link isHung} judges. */
export const LOOKS_OF_A_HANG = 120;
/** The minimum share of looks at which it waits: a process that waits for ever may still wake now and then. */
const MIN_WAITING = 0.9;
/** A share of the time between them, half a second each. */
const MAX_CPU_SECONDS = 0.05 * 0.5 * LOOKS_OF_A_HANG;

/**
 * Returns whether processes wait for ever: nearly all of a minute's looks saw none that wants to run, and they used next to no time.
 * On a busy machine they want to and cannot, which is no waiting.
 *
 * @param {readonly Usage[]} looks - the last ones, half a second apart
 * @returns {boolean}
 */
export function isHung(looks) {
  const [first, last] = [looks.at(-LOOKS_OF_A_HANG), looks.at(-1)];
  if (first === undefined || last === undefined) return false;
  const waiting = looks.slice(-LOOKS_OF_A_HANG).filter(({ isWaiting }) => isWaiting).length;
  return waiting >= MIN_WAITING * LOOKS_OF_A_HANG && last.cpuSeconds - first.cpuSeconds < MAX_CPU_SECONDS;
}

/**
 * The usage of a process group, from /proc.
 *
 * @param {number} group - its number: the process id of its first process
 * @returns {Usage}
 */
export function usageOfGroup(group) {
  let ticks = 0;
  let isWaiting = true;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(name);
    if (stat === undefined || stat.group !== group) continue;
    ticks += stat.ticks;
    if (statesOfThreads(name).some((state) => state === 'R' || state === 'D')) isWaiting = false;
  }
  return { cpuSeconds: ticks / TICKS, isWaiting };
}

/** @param {string} pid */
function statOf(pid) {
  const fields = statFields(`/proc/${pid}/stat`);
  if (fields === undefined) return undefined;
  // utime, stime, cutime, cstime: a child that has ended counts for the process that has waited for it.
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
  return { group: Number(fields[2]), ticks };
}

/** @param {string} pid */
function statesOfThreads(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).map((task) => statFields(`/proc/${pid}/task/${task}/stat`)?.[0]);
  } catch {
    return [];
  }
}

/**
 * The fields after the name, which may hold spaces and brackets: state, parent, group, ...
 *
 * @param {string} file
 */
function statFields(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    // It has ended.
    return undefined;
  }
}
