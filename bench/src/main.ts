/** `pnpm bench [--quick]`. Exit code 1 if one of our own results is wrong or missing; a failing peer is only reported. */
import { parseArgs } from 'node:util';
import { benchCpu } from './cpu.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const outcomes = await benchCpu(values.quick);
if (outcomes.some(({ peer, failure }) => peer.name === 'concord' && failure !== undefined)) process.exitCode = 1;
