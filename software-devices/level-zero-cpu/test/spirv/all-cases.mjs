// @ts-check
// All cases, by what they are about.
import { compilers, kernelArguments, rewritten, specialization } from './cases-code.mjs';
import { groups } from './cases-groups.mjs';
import { intel } from './cases-intel.mjs';
import { slots, subgroups } from './cases-subgroups.mjs';

/** @type {Record<string, import('./harness.mjs').Case[]>} */
export const casesByTopic = {
  rewritten,
  kernelArguments,
  specialization,
  compilers,
  groups,
  subgroups,
  slots,
  intel,
};

export const cases = Object.values(casesByTopic).flat();
