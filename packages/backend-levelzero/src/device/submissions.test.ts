import { beforeEach, describe, expect, it } from 'vitest';
import { FakeDevice } from '../../test/support/fake-device.ts';
import { RESULTS } from '../ffi/result.ts';
import { Submissions } from './submissions.ts';

let fake: FakeDevice;
let submissions: Submissions;
let errors: unknown[];
beforeEach(() => {
  fake = new FakeDevice();
  errors = [];
  submissions = new Submissions(fake.device, (error) => errors.push(error));
});

function submit(ops: string): void {
  void submissions.list;
  submissions.submit(ops);
}
const wanted = (): boolean => true;
/** The state of a promise without further work. */
const soon = (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    promise.catch((error: unknown) => error),
    new Promise((resolve) => setImmediate(resolve, 'still waiting')),
  ]);
const LOST = { code: 'DEVICE_LOST', op: 'gemm' };

describe('work in flight', () => {
  it('is done when its fence says so, one submit after the other', () => {
    submit('gemm');
    submit('unary');
    expect([submissions.submitted, submissions.next, submissions.poll()]).toEqual([2, 3, 0]);
    fake.finish(1);
    expect(submissions.poll()).toBe(1);
    fake.finish();
    expect(submissions.poll()).toBe(2);
  });

  it('is not done because the work that had its fence before was', () => {
    submit('gemm');
    fake.finish();
    expect(submissions.poll()).toBe(1);
    submit('unary');
    expect(fake.count('zeFenceCreate')).toBe(1);
    expect(submissions.poll()).toBe(1);
    fake.finish();
    expect(submissions.poll()).toBe(2);
  });

  it('keeps the fence that a thread waits at until the thread is back', async () => {
    submit('gemm');
    const waiting = submissions.wait(1, wanted);
    fake.finish();
    expect(submissions.poll()).toBe(1);
    expect(fake.count('zeFenceReset')).toBe(0);
    expect(submissions.destroy()).toBe(false);
    fake.wake();
    expect(fake.count('zeFenceReset')).toBe(1);
    expect(await waiting).toBe(true);
    expect(submissions.destroy()).toBe(true);
  });

  it('is waited for in slices, while a caller wants it', async () => {
    let isWanted = true;
    submit('gemm');
    const waiting = submissions.wait(1, () => isWanted);
    fake.wake();
    expect(fake.waits).toHaveLength(1);
    isWanted = false;
    fake.wake();
    expect(await waiting).toBe(false);
    expect(fake.waits).toHaveLength(0);
  });
});

describe('a failure reaches who waits and the backend, with the ops of the work', () => {
  it('of a fence that is looked at', async () => {
    submit('gemm');
    const waiting = submissions.wait(1, wanted);
    fake.broken.set(fake.waits[0]?.fence as bigint, RESULTS.ERROR_DEVICE_LOST);
    submissions.poll();
    await expect(waiting).rejects.toMatchObject(LOST);
    expect(errors).toMatchObject([LOST]);
  });

  it('of a fence that a thread waits at', async () => {
    submit('gemm');
    const waiting = submissions.wait(1, wanted);
    const { back } = fake.waits.shift() as (typeof fake.waits)[number];
    back(null, RESULTS.ERROR_DEVICE_LOST);
    await expect(waiting).rejects.toMatchObject(LOST);
    expect(errors).toMatchObject([LOST]);
  });

  it('of the thread itself', async () => {
    submit('gemm');
    const waiting = submissions.wait(1, wanted);
    const cause = new Error('no thread');
    fake.waits.shift()?.back(cause, 0);
    await expect(waiting).rejects.toMatchObject({ code: 'DEVICE_ERROR', cause });
  });

  it.each(['zeCommandListClose', 'zeCommandQueueExecuteCommandLists'])('of a submit that %s refuses', async (call) => {
    submit('unary');
    fake.refusals[call] = [RESULTS.ERROR_DEVICE_LOST];
    expect(() => submit('gemm')).toThrow(expect.objectContaining(LOST));
    expect(errors).toMatchObject([LOST]);
    expect(await soon(submissions.wait(2, wanted))).toBe(errors[0]);
    expect(await soon(submissions.wait(3, wanted))).toBe(errors[0]);
    const before = submissions.wait(1, wanted);
    fake.finish();
    fake.wake();
    expect(await before).toBe(true);
  });
});

describe('a driver that refuses', () => {
  it.each(['zeCommandListCreate', 'zeFenceCreate'])('%s leaves no list or fence behind', (name) => {
    submit('gemm');
    fake.refusals[name] = [RESULTS.ERROR_OUT_OF_DEVICE_MEMORY];
    // The first submit is still in flight, so that these need objects of their own.
    expect(() => submit('unary')).toThrow('OUT_OF_DEVICE_MEMORY');
    submit('binary');
    fake.finish();
    submissions.poll();
    expect(submissions.destroy()).toBe(true);
    expect(fake.count('zeCommandListDestroy')).toBe(
      fake.count('zeCommandListCreate') - Number(name === 'zeCommandListCreate'),
    );
    expect(fake.count('zeFenceDestroy')).toBe(fake.count('zeFenceCreate') - Number(name === 'zeFenceCreate'));
  });
});
