import { compareSums, compareWithOracle } from '../cases/attention/checks.ts';
import { type AttentionParams, shapeOf, viewsOf } from '../cases/attention/params.ts';
import { extentsOf, saidStrides, startsOf, stridesOf } from '../cases/attention/placement.ts';
import { elementsAt, inOrder } from './expected.ts';
import { namedCall } from './named-calls.ts';
import type { ProgramCall } from './program-call.ts';

/** The call of attention with these parameters, in each layout but `joined`. Its results are judged, and not known. */
export function planAttentionCall(given: AttentionParams): ProgramCall {
  const params: AttentionParams = { ...given, layout: given.layout === 'joined' ? 'padded' : given.layout };
  const { dtype, layout } = params;
  const extents = extentsOf(params);
  const names = ['q', 'k', 'v', 'o'] as const;
  const strides = Object.fromEntries(names.map((name) => [name, stridesOf(extents[name], layout, name)]));
  const [qAt, kAt, vAt, oAt] = names.map((name) =>
    rowsAt(startsOf(extents[name], strides[name] as ReturnType<typeof stridesOf>), extents[name][3]),
  ) as [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  return namedCall({
    op: 'attention',
    shape: {
      ...shapeOf(params),
      ...(layout === 'packed' ? {} : { strides: saidStrides(layout, strides) }),
      ...viewsOf(params),
    },
    writes: oAt,
    data: 'unit',
    place: (pointers) => {
      const views = Object.entries(viewsOf(params)).map(([name, view]) => [name, { ptr: pointers[name], ...view }]);
      return { ...pointers, ...Object.fromEntries(views) };
    },
    evaluate: (_, values) => {
      const { lengths, starts, ...given } = values;
      const floats = Object.entries(given).filter(([name]) => name !== 'mask' || params.maskDtype !== 'u8');
      if (floats.some(([, own]) => own.some((x) => Math.abs(x) > 100))) return undefined;
      const taken = (name: string, places: Uint32Array): Float32Array =>
        Float32Array.from(places, (distance) => values[name]?.[distance] as number);
      const mask = values['mask'] && Float32Array.from(values['mask']);
      const places = { lengths: lengths && [...lengths], starts: starts && [...starts] };
      const operands = { q: taken('q', qAt), k: taken('k', kAt), v: taken('v', vAt), mask, ...places };
      const judge = (after: Uint8Array): void =>
        compareWithOracle(params, Float32Array.from(elementsAt(dtype, after, oAt)), operands);
      const judgeSums = (after: Uint8Array): void =>
        compareSums(params, Float32Array.from(elementsAt('f32', after, inOrder(after.length / 4))), operands);
      return {
        o: { bitsOf: () => undefined, judge },
        ...(params.lse ? { lse: { bitsOf: () => undefined, judge: judgeSums } } : {}),
      };
    },
  });
}

/** The distances of the elements of rows, from where each begins. */
function rowsAt(starts: readonly number[], columns: number): Uint32Array {
  const inRow = inOrder(columns);
  return Uint32Array.from(starts.flatMap((start) => [...inRow].map((at) => start + at)));
}
