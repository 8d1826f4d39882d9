import { afterEach, expect, it, vi } from 'vitest';
import { defineKernel, type Recorder, WebGpuBackend, WebGpuClient, type WebGpuOptions } from '../src/index.ts';

const opened: WebGpuClient[] = [];

async function open(options: WebGpuOptions = {}): Promise<WebGpuClient> {
  const client = await WebGpuClient.open(options);
  opened.push(client);
  return client;
}

afterEach(() => {
  for (const client of opened.splice(0)) client.dispose();
});

const double = defineKernel({
  name: 'test/double',
  storage: { x: { access: 'read_write', type: 'array<f32>' } },
  uniforms: { factor: 'f32' },
  code: `
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
  let i = group_index(id, grid);
  if (i >= u.group_count) { return; }
  x[i] = x[i] * u.factor;
}`,
});

it('shares one device among equal requests until the last is disposed', async () => {
  const [one, other] = await Promise.all([open(), open()]);
  expect(one.device).toBe(other.device);
  one.dispose();
  one.dispose();
  await other.finish();
  const { device } = other;
  other.dispose();
  expect(await device.lost).toMatchObject({ reason: 'destroyed' });
  const next = await open();
  expect(next.device).not.toBe(device);
  await next.finish();
});

it('gives back pooled and live memory when it is disposed, also where its device stays open', async () => {
  const [one] = await Promise.all([open(), open()]);
  const pooled = one.allocate(8192);
  one.allocate(4096);
  one.deallocate(pooled.id);
  expect(one.memory().pooledBytes).toBeGreaterThan(0);
  one.dispose();
  expect(one.memory()).toMatchObject({ allocatedBytes: 0, pooledBytes: 0, retiredBytes: 0, live: 0 });
});

it('keeps allocations by id', async () => {
  const client = await open();
  const buffer = client.allocate(13);
  expect(buffer.id).toBeGreaterThan(0);
  expect(buffer.size).toBe(16);
  expect(client.find(buffer.id)).toBe(buffer);
  expect(client.deallocate(buffer.id)).toBe(true);
  expect(client.find(buffer.id)).toBeUndefined();
  expect(client.deallocate(buffer.id)).toBe(false);
  expect(client.allocate(13).id).not.toBe(buffer.id);
});

it('writes, launches a kernel and reads, in call order', async () => {
  const client = await open({ maxWorkgroupsPerDimension: 2 });
  const buffer = client.allocate(64);
  const span = { buffer, byteOffset: 0, byteLength: 64 };
  const values = Float32Array.from({ length: 16 }, (_, i) => i);
  client.write(span, new Uint8Array(values.buffer));
  client.record('double', (recorder) => {
    recorder.launch({ kernel: double, storage: { x: span }, uniforms: { factor: 2 }, groups: 16 });
  });
  let got: number[] = [];
  await client.read(span, (bytes) => {
    got = [...new Float32Array(bytes.slice().buffer)];
  });
  expect(got).toEqual([...values].map((value) => 2 * value));
});

const mistake = new RangeError('not planned');

it.each<readonly [string, (recorder: Recorder, client: WebGpuClient, sizes: readonly number[]) => void]>([
  [
    'a plan that throws',
    (recorder, _, sizes) => {
      for (const bytes of sizes) recorder.scratch(bytes);
      throw mistake;
    },
  ],
  [
    'a plan that throws after its launches',
    (recorder, _, sizes) => {
      for (const bytes of sizes) {
        const x = recorder.scratch(bytes);
        recorder.launch({ kernel: double, storage: { x }, uniforms: { factor: 2 }, groups: 1 });
      }
      throw mistake;
    },
  ],
  [
    'ops within one another, the innermost of which throws',
    (recorder, client, [bytes = 0, ...others]) => {
      recorder.scratch(bytes);
      client.record('inner', (inner) => {
        for (const other of others) inner.scratch(other);
        throw mistake;
      });
    },
  ],
])('gives back the scratch memory of %s', async (_, plan) => {
  const client = await open();
  const { live } = client.memory();
  for (const sizes of [[16], [16, 4096, 2 ** 20], [2 ** 24, 16]]) {
    expect(() => client.record('op', (recorder) => plan(recorder, client, sizes))).toThrow(mistake);
    expect(client.memory().live, sizes.join()).toBe(live);
  }
  await client.finish();
});

it('an op that goes on after one within it threw keeps its own scratch memory', async () => {
  const client = await open();
  const { live } = client.memory();
  client.record('outer', (outer) => {
    outer.scratch(64);
    const inner = (): void =>
      client.record('inner', (recorder) => {
        recorder.scratch(64);
        throw mistake;
      });
    expect(inner).toThrow(mistake);
    expect(client.memory().live).toBe(live + 1);
  });
  expect(client.memory().live).toBe(live);
});

it('compiles a source once for concurrent requests and forgets one that fails', async () => {
  const client = await open();
  const requests = await Promise.all([client.compile(double), client.compile({ ...double })]);
  expect(requests[0].pipeline).toBe(requests[1].pipeline);
  const broken = { ...double, name: 'test/broken', code: 'fn main() {\n  let x = 1 +;\n}' };
  const failure = { code: 'DEVICE_ERROR', message: expect.stringMatching(/test\/broken.*line 2, column 14/) };
  await expect(client.compile(broken)).rejects.toMatchObject(failure);
  await expect(client.compile(broken)).rejects.toMatchObject(failure);
});

it('shares a layout between kernels of equal bindings, and not where elements differ in size', async () => {
  const client = await open();
  const layoutOf = async (type: string, name: string): Promise<unknown> => {
    const code = '@compute @workgroup_size(1) fn main() { _ = arrayLength(&x); }';
    const kernel = defineKernel({ name, storage: { x: { access: 'read_write', type } }, uniforms: {}, code });
    return (await client.compile(kernel)).layout;
  };
  const ofFloats = await layoutOf('array<f32>', 'floats');
  expect(await layoutOf('array<u32>', 'words')).toBe(ofFloats);
  expect(await layoutOf('array<vec4f>', 'vectors')).not.toBe(ofFloats);
});

it('bounds a wait, and says so', async () => {
  const client = await open();
  const buffer = client.bufferOf(client.allocate(64 * 2 ** 20));
  const clear = (encoder: GPUCommandEncoder): void => {
    for (let i = 0; i < 20; i++) encoder.clearBuffer(buffer);
  };
  await expect(client.submitAndWait('clearing', clear, { timeoutMs: 0 })).rejects.toMatchObject({
    code: 'DEVICE_ERROR',
    op: 'clearing',
    message: 'device error: clearing did not finish within 0 ms',
  });
  await client.submitAndWait('clearing', clear);
});

it('waits for ever if told to, and refuses times that are none', async () => {
  const client = await open();
  await client.submitAndWait('nothing', () => undefined, { timeoutMs: Infinity });
  await expect(client.submitAndWait('nothing', () => undefined, { timeoutMs: Number.NaN })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

it('knows that its device is lost', async () => {
  const client = await open();
  const span = { buffer: client.allocate(16), byteOffset: 0, byteLength: 16 };
  client.device.destroy();
  await client.lost;
  for (const wait of [
    () => client.finish(),
    () => client.read(span, () => undefined),
    () => client.submitAndWait('nothing', () => undefined),
  ]) {
    await expect(wait()).rejects.toMatchObject({ code: 'DEVICE_LOST' });
  }
});

it('says that it is disposed', async () => {
  const client = await open();
  client.dispose();
  await expect(client.finish()).rejects.toMatchObject({ code: 'DISPOSED' });
  expect(() => client.allocate(16)).toThrow(/disposed/);
});

it("gives every client of a kernel that does not compile the compiler's words", async () => {
  const kernel = { ...double, name: 'test/broken', code: double.code.replace('x[i] * u.factor', 'x[i] *') };
  const message = expect.stringMatching(/kernel test\/broken does not compile: line \d+, column \d+/) as string;
  const clients = await Promise.all([open(), open()]);
  const launch = (client: WebGpuClient): void => {
    const span = { buffer: client.allocate(64), byteOffset: 0, byteLength: 64 };
    client.record('double', (recorder) => {
      recorder.launch({ kernel: { ...kernel }, storage: { x: span }, uniforms: { factor: 2 }, groups: 1 });
    });
  };
  for (const client of clients) launch(client);
  for (const client of clients) {
    await expect(client.finish()).rejects.toMatchObject({ code: 'DEVICE_ERROR', op: 'double', message });
    await client.finish();
    expect(client.failure).toBeUndefined();
    expect(() => launch(client)).toThrow(expect.objectContaining({ code: 'DEVICE_ERROR', message }));
  }
});

it('explains a kernel with more bindings than the device has', async () => {
  const client = await open();
  const storage = Object.fromEntries(
    Array.from({ length: 65 }, (_, i) => [`x${i}`, { access: 'read', type: 'array<f32>' }] as const),
  );
  const code = '@compute @workgroup_size(1) fn main() {}';
  const kernel = defineKernel({ name: 'test/wide', storage, uniforms: {}, code });
  const failure = { code: 'DEVICE_ERROR', message: expect.stringMatching(/test\/wide.*storage buffers/s) };
  await expect(client.compile(kernel)).rejects.toMatchObject(failure);
  await expect(client.compile(kernel)).rejects.toMatchObject(failure);
});

it('releases the device when opening fails after it', async () => {
  const first = await open();
  const { device } = first;
  const createBuffer = vi.spyOn(device, 'createBuffer').mockImplementationOnce(() => {
    throw new TypeError('no');
  });
  await expect(WebGpuClient.open()).rejects.toThrow('no');
  createBuffer.mockRestore();
  first.dispose();
  expect(await device.lost).toMatchObject({ reason: 'destroyed' });
});

it("asks for the adapter's limits and features", async () => {
  const { device } = await open();
  expect(device.features.has('subgroups')).toBe(true);
  expect(device.features.has('timestamp-query')).toBe(true);
  expect(device.limits.maxBufferSize).toBeGreaterThan(2 ** 28);
});

it('leaves an injected device alone', async () => {
  const { device } = await open();
  let isLost = false;
  void device.lost.then(() => {
    isLost = true;
  });
  const backend = new WebGpuBackend({ device });
  await backend.init();
  expect(backend.native.device).toBe(device);
  await backend.dispose();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isLost).toBe(false);
});
