import { expect, it } from 'vitest';
import { replaceNativeCalls } from './calls.ts';

class Pass {
  done: string[] = [];
  setPipeline(): void {
    this.done.push('setPipeline');
  }
  setBindGroup(): void {
    this.done.push('setBindGroup');
  }
  dispatchWorkgroups(): void {
    this.done.push('dispatchWorkgroups');
  }
}

class Queue {
  submitted = 0;
  submit(): void {
    this.submitted++;
  }
  writeBuffer(): string {
    return 'written';
  }
}

class Device {
  readonly queue = new Queue();
  createCommandEncoder(): { beginComputePass: () => Pass } {
    return { beginComputePass: () => new Pass() };
  }
  createBindGroup(entry: string): string {
    return `group of ${entry}`;
  }
  createBuffer(): string {
    return 'buffer';
  }
}

it('empties passes, counts what else costs time, and puts all back', () => {
  const device = new Device();
  const pass = new Pass();
  const native = replaceNativeCalls(device as unknown as GPUDevice);
  pass.setPipeline();
  pass.setBindGroup();
  for (let launch = 0; launch < 3; launch++) pass.dispatchWorkgroups();
  expect(pass.done).toEqual([]);
  expect(device.createBindGroup('a')).toBe('group of a');
  expect(device.queue.writeBuffer()).toBe('written');
  device.queue.submit();
  expect(device.queue.submitted).toBe(1);
  const once = { dispatchWorkgroups: 3, createBindGroup: 1, createBuffer: 0, writeBuffer: 1, submit: 1 };
  expect(native.take()).toEqual(once);
  expect(Object.values(native.take())).toEqual([0, 0, 0, 0, 0]);
  native.restore();
  pass.dispatchWorkgroups();
  device.createBindGroup('b');
  expect(pass.done).toEqual(['dispatchWorkgroups']);
  expect(native.take().createBindGroup).toBe(0);
});
