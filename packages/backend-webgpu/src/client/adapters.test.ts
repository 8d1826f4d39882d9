import { isBackendError } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { type AdapterChoice, chooseAdapter, describeAdapter, listAdapters } from './adapters.ts';
import { injectedSource } from './gpu-source.ts';

const info = (fields: Partial<GPUAdapterInfo>): GPUAdapterInfo =>
  ({
    vendor: '',
    architecture: '',
    device: '',
    description: '',
    isFallbackAdapter: false,
    ...fields,
  }) as GPUAdapterInfo;

const LAPTOP = info({ vendor: 'intel', architecture: 'xe', description: 'Iris' });
const CARD = info({ vendor: 'nvidia', device: 'h200-', description: 'NVIDIA: 580.1' });
const WGPU_CARD = info({ vendor: '4318', device: '9521', description: 'NVIDIA RTX A2000' });
const SOFTWARE = info({ vendor: 'mesa', description: 'llvmpipe (LLVM 15)', isFallbackAdapter: true });

/** A larger one has more memory. */
const adapterOf = (found: GPUAdapterInfo): GPUAdapter => {
  const limits = { maxBufferSize: found === LARGE ? 2 ** 32 : 2 ** 28 };
  return { info: found, features: new Set(), limits } as unknown as GPUAdapter;
};

/** As Firefox has it: nothing but whether it is the fallback. */
const SMALL = info({});
const LARGE = info({});
const FALLBACK = info({ isFallbackAdapter: true });

/** A machine with two GPUs and a fallback; a missing one gives null, as browsers do, or rejects, as Dawn does. */
function machine(adapters: Partial<Record<'low-power' | 'high-performance' | 'fallback', GPUAdapterInfo>>): GPU {
  const requestAdapter = async (options: GPURequestAdapterOptions = {}): Promise<GPUAdapter | null> => {
    const kind = options.forceFallbackAdapter === true ? 'fallback' : (options.powerPreference ?? 'low-power');
    const found = adapters[kind];
    if (found === undefined && kind === 'fallback') throw new Error('no suitable backends found');
    return found === undefined ? null : adapterOf(found);
  };
  return { requestAdapter } as GPU;
}

async function chosen(adapters: Parameters<typeof machine>[0], choice: AdapterChoice = {}): Promise<string> {
  try {
    const { adapter } = await chooseAdapter(injectedSource(machine(adapters)), choice);
    return describeAdapter(adapter.info).name;
  } catch (error) {
    if (!isBackendError(error)) throw error;
    return `${error.code}: ${error.detail}`;
  }
}

const BOTH = { 'low-power': LAPTOP, 'high-performance': CARD, fallback: SOFTWARE };

describe('adapters', () => {
  it('lists each once, hardware first', async () => {
    const all = await listAdapters(injectedSource(machine({ ...BOTH, 'low-power': SOFTWARE })));
    expect(all.map(({ adapter }) => adapter.info.description)).toEqual(['NVIDIA: 580.1', 'llvmpipe (LLVM 15)']);
  });

  it('tells adapters without a name apart', async () => {
    const all = await listAdapters(
      injectedSource(machine({ 'low-power': SMALL, 'high-performance': LARGE, fallback: FALLBACK })),
    );
    expect(all.map(({ adapter }) => adapter.info)).toEqual([SMALL, LARGE, FALLBACK]);
    const same = { 'low-power': SMALL, 'high-performance': info({}) };
    expect(await listAdapters(injectedSource(machine(same)))).toHaveLength(1);
  });

  it('takes one by a name that is a number for nothing else', async () => {
    expect(await chosen({ 'low-power': WGPU_CARD }, { adapter: 'rtx' })).toBe('NVIDIA RTX A2000');
    expect(await chosen({ 'low-power': WGPU_CARD }, { adapter: '9521' })).toBe(
      'INVALID_ARGUMENT: there is no adapter "9521"',
    );
  });

  it('takes what is asked for', async () => {
    expect(await chosen(BOTH)).toBe('Iris');
    expect(await chosen(BOTH, { powerPreference: 'high-performance' })).toBe('h200');
    expect(await chosen(BOTH, { adapter: 'h2' })).toBe('h200');
    expect(await chosen(BOTH, { adapter: 2 })).toBe('llvmpipe (LLVM 15)');
    expect(await chosen({ fallback: SOFTWARE })).toBe('llvmpipe (LLVM 15)');
  });

  it('says what is there when it is not what was asked for', async () => {
    expect(await chosen(BOTH, { adapter: 'radeon' })).toBe('INVALID_ARGUMENT: there is no adapter "radeon"');
    expect(await chosen(BOTH, { adapter: 3 })).toBe('INVALID_ARGUMENT: there is no adapter 3');
    expect(await chosen({ fallback: SOFTWARE }, { software: 'refuse' })).toBe(
      'BACKEND_UNAVAILABLE: only software devices are here (0: llvmpipe (LLVM 15)), and they are refused',
    );
    expect(await chosen({})).toBe('BACKEND_UNAVAILABLE: the injected gpu offered no adapter');
  });
});

it.each([
  [CARD, { name: 'h200', vendor: 'nvidia', type: 'discrete', driver: 'WebGPU on NVIDIA: 580.1' }],
  [LAPTOP, { name: 'Iris', type: 'unknown' }],
  [SOFTWARE, { type: 'software' }],
  [info({ vendor: 'google', architecture: 'swiftshader' }), { name: 'google swiftshader', type: 'software' }],
  [info({ vendor: 'apple', architecture: 'metal-3' }), { name: 'apple metal-3', type: 'integrated' }],
  [WGPU_CARD, { name: 'NVIDIA RTX A2000', vendor: 'nvidia', type: 'discrete', driver: 'WebGPU' }],
  [
    info({ vendor: '65541', device: '0', description: 'llvmpipe (LLVM 15)' }),
    { name: 'llvmpipe (LLVM 15)', vendor: 'mesa', type: 'software' },
  ],
  [info({ vendor: '99999', device: '7' }), { name: '99999', vendor: '99999', type: 'unknown' }],
  [info({}), { name: 'GPU', vendor: 'unknown', type: 'unknown', driver: 'WebGPU' }],
  [{} as GPUAdapterInfo, { name: 'GPU', vendor: 'unknown', type: 'unknown', driver: 'WebGPU' }],
])('describes %o', (adapter, expected) => {
  expect(describeAdapter(adapter)).toMatchObject(expected);
});
