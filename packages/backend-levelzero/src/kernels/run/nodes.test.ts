import { describe } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { describeNodes } from '../../../../backend-cpu/test/run-nodes.ts';
import { runOnDevice } from '../../../test/support/run-on-device.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';

const client = opened(() => LevelZeroClient.open());

describe.each([
  ['a CPU', { isCpuLike: true, computeUnits: 2 }],
  ['a GPU', { isCpuLike: false }],
] as const)('as on %s', (_, traits) => {
  describeNodes((geometry, data) => runOnDevice(client, geometry, data, traits), 200);
});
