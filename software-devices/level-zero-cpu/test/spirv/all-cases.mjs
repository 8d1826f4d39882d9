// @ts-check
// All cases, by what they are about.
import { compilers } from './cases-compilers.mjs';
import { control, specialization } from './cases-control.mjs';
import { groups } from './cases-groups.mjs';
import { intel } from './cases-intel.mjs';
import { memory } from './cases-memory.mjs';
import { numbers } from './cases-numbers.mjs';
import { shuffles } from './cases-shuffles.mjs';
import { slots } from './cases-slots.mjs';
import { subgroups } from './cases-subgroups.mjs';
import { vectors } from './cases-vectors.mjs';

/** @type {Record<string, import('./harness.mjs').Case[]>} */
export const casesByTopic = {
  numbers,
  vectors,
  control,
  specialization,
  memory,
  groups,
  subgroups,
  shuffles,
  slots,
  intel,
  compilers,
};

export const cases = Object.values(casesByTopic).flat();
