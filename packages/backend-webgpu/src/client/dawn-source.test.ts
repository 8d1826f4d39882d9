import { expect, it } from 'vitest';
import { type DawnOptions, dawnSource } from './dawn-source.ts';

/** The toggles that Dawn is created with. */
function toggles(options: DawnOptions): { readonly on: readonly string[]; readonly off: readonly string[] } {
  const list = (name: string): readonly string[] =>
    new RegExp(`${name}-dawn-features=(\\S+)`).exec(dawnSource(options).key)?.[1]?.split(',') ?? [];
  return { on: list('enable'), off: list('disable') };
}

const MATRIX_UNITS = ['allow_unsafe_apis', 'vulkan_enable_f16_on_nvidia'];

it('asks for matrix units unless told not to', () => {
  expect(toggles({})).toEqual({ on: MATRIX_UNITS, off: ['timestamp_quantization'] });
  expect(toggles({ matrixUnits: true }).on).toEqual(MATRIX_UNITS);
  expect(toggles({ matrixUnits: false }).on).toEqual([]);
});

it('switches off the checks of bounds only when told to', () => {
  expect(toggles({ robustness: true }).on).not.toContain('disable_robustness');
  expect(toggles({ robustness: false }).on).toEqual([...MATRIX_UNITS, 'disable_robustness']);
  expect(toggles({ robustness: false, matrixUnits: false }).on).toEqual(['disable_robustness']);
});

it('what the caller switches on or off comes before its own wishes', () => {
  expect(toggles({ enable: ['allow_unsafe_apis', 'dump_shaders'] }).on).toEqual([...MATRIX_UNITS, 'dump_shaders']);
  expect(toggles({ disable: ['allow_unsafe_apis'] })).toEqual({
    on: ['vulkan_enable_f16_on_nvidia'],
    off: ['timestamp_quantization', 'allow_unsafe_apis'],
  });
});

it('sources that differ in what they ask for do not share a device', () => {
  const unsafe = { enable: MATRIX_UNITS };
  expect(dawnSource(unsafe).key).toBe(dawnSource({}).key);
  expect(dawnSource({ ...unsafe, matrixUnits: false }).key).not.toBe(dawnSource(unsafe).key);
});
