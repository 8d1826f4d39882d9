import { beforeEach, expect, it } from 'vitest';
import { FakeDevice } from '../../test/support/fake-device.ts';
import { HostBlocks, Staging } from './staging.ts';
import { Submissions } from './submissions.ts';

const LARGE = 2 ** 19;
const KEPT = 64 * 2 ** 20;

let fake: FakeDevice;
let submissions: Submissions;
let blocks: HostBlocks;
let staging: Staging;
beforeEach(() => {
  fake = new FakeDevice();
  submissions = new Submissions(fake.device, () => undefined);
  blocks = new HostBlocks(fake.device, submissions);
  staging = new Staging(blocks, submissions);
});

function submit(): void {
  void submissions.list;
  submissions.submit('copyHtod');
}

function done(): void {
  fake.finish();
  submissions.poll();
}

const bytes = (value: number, length: number): Uint8Array => new Uint8Array(length).fill(value);

/** Stages that many uploads, and says that each is still there when all are. */
function expectApart(lengths: readonly number[], between: () => void = () => undefined): bigint[] {
  const addresses = lengths.map((length, index) => {
    const address = staging.stage(bytes(index + 1, length));
    between();
    return address;
  });
  for (const [index, address] of addresses.entries()) {
    const length = lengths[index] as number;
    expect(fake.at(address, length).every((byte) => byte === index + 1)).toBe(true);
  }
  return addresses;
}

it.each([
  ['small', [1, 63, 64, 65, 100, 2000, 3]],
  ['large', [LARGE, LARGE, LARGE]],
  ['more than a block', [...Array.from({ length: 9 }, () => 2 ** 18), LARGE, 8]],
])('uploads lie apart: %s', (_, lengths) => {
  expectApart(lengths);
});

it.each([
  ['small', [5, 5, 5]],
  ['large', [LARGE, LARGE, LARGE]],
  ['more than a block', [...Array.from({ length: 9 }, () => 2 ** 18), LARGE, 8]],
])('also when each is submitted by itself and none is done: %s', (_, lengths) => {
  expectApart(lengths, submit);
});

it('memory is used again when its copies are done', () => {
  const lengths = [10, LARGE];
  const first = expectApart(lengths);
  submit();
  expect(expectApart(lengths)).not.toEqual(first);
  submit();
  done();
  const { allocations } = fake;
  for (let i = 0; i < 20; i++) {
    expectApart(lengths);
    submit();
    done();
  }
  expect(fake.allocations).toBe(allocations);
});

it('blocks beyond what is kept are freed when their copies are done, not before', () => {
  const taken = [KEPT, KEPT].map((size) => blocks.take(size));
  for (const block of taken) blocks.giveBack(block, submissions.next);
  expect(fake.allocations).toBe(2);
  submit();
  blocks.giveBack(blocks.take(2 ** 20), submissions.next);
  expect(fake.allocations).toBe(3);
  submit();
  done();
  blocks.giveBack(blocks.take(2 ** 20), submissions.submitted);
  expect(fake.allocations).toBeLessThanOrEqual(2);
});

it('memory that is short is made by idle blocks, and by no others', () => {
  const [idle, busy] = [blocks.take(2 ** 20), blocks.take(2 ** 21)];
  blocks.giveBack(idle, 0);
  blocks.giveBack(busy, submissions.next);
  expect(blocks.releaseIdle()).toBe(true);
  expect(fake.allocations).toBe(1);
  expect(blocks.releaseIdle()).toBe(false);
});
