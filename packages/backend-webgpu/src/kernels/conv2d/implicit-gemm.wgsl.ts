import { ofType, shapeOf } from '@concord/variants';
import { bindEpilogue } from '../epilogue/fused-epilogue.ts';
import { productKernel } from '../gemm/product-kernel.ts';
import { mainOf } from '../kernel.ts';
import { repeat, storeC } from '../wgsl/snippets.ts';
import {
  filterStrip,
  filterStripBytes,
  inputStrip,
  inputStripBytes,
  MAX_COLUMNS,
  MAX_ROWS,
  type Padding,
} from './strips.ts';
import { type ElementStore, elementStore, STORE, windowFunctions, windowUniforms } from './window.wgsl.ts';
import type { DeviceTraits } from '../recorder.ts';
import { type Conv2dShape, type Conv2dTable, placesOf, type Variant } from './windows.ts';

/** Shape of a workgroup's tile of the product. */
interface Tile {
  /** Filters and places that a workgroup computes. */
  readonly filters: number;
  readonly places: number;
  /** Taps that are in workgroup memory at a time. */
  readonly step: number;
  /** Filters and places that one invocation computes: multiples of 4. */
  readonly laneFilters: number;
  readonly lanePlaces: number;
}

/** The parameters that distinguish the implicit GEMM kernels. */
interface ImplicitGemmParams {
  readonly tile: Tile;
  readonly padding: Padding;
  /** True if the taps are a whole number of iterations, of {@link iterationTaps} each. */
  readonly isWhole: boolean;
  /** True if no read may go beyond a binding, which costs a comparison each. */
  readonly isClamped: boolean;
}

/** The known facts about a shape. */
type Fit = Pick<ImplicitGemmParams, 'padding' | 'isWhole'>;

/** Every {@link Fit}. */
const FITS: readonly Fit[] = [
  { padding: 'none', isWhole: true },
  { padding: 'sets', isWhole: true },
  { padding: 'sets', isWhole: false },
  { padding: 'coordinates', isWhole: false },
];

/** Taps of an iteration of the loop. */
function iterationTaps({ step }: Pick<Tile, 'step'>): number {
  return 2 * step;
}

/** Invocations of a workgroup. */
function implicitGemmLanes({ filters, places, laneFilters, lanePlaces }: Tile): number {
  return (filters / laneFilters) * (places / lanePlaces);
}

/** Bytes of workgroup memory, at most. */
function implicitGemmBytes(tile: Tile): number {
  return filterStripBytes(tile) + inputStripBytes({ ...tile, threads: implicitGemmLanes(tile) });
}

/**
 * Convolution as the matrix product filters x patches, per group: output[k, place] = sum over taps of
 * filter[k, tap] * input(place, tap), where a tap is a (channel, r, s) and a place an (image, p, q). The matrix of patches
 * (im2col) is never stored: its tiles are gathered from the input on the way to workgroup memory. The method is that of
 * Chetlur et al., "cuDNN: Efficient Primitives for Deep Learning" (2014), section 3.
 *
 * Input is NCHW, filter KCRS, output NKPQ, as far as the window reaches. A workgroup computes a tile of the product and
 * walks along the taps in steps. Each step a strip of filters and a strip of patches are brought to workgroup memory
 * ({@link filterStrip}, {@link inputStrip}), and each invocation adds the outer products of its filters and places to
 * sums in registers. The next strips are read to registers before the arithmetic and stored after it, to the other one of
 * two buffers, so that memory works meanwhile and one barrier a step will do. Reads have no conditions, which would keep
 * them from being under way together: outside of the image and beyond the last tap any element is read, and replaced by 0
 * when it is stored. 32 invocations (a warp) make a block of 4 x 8. The inner loop is unrolled in the source.
 *
 * Workgroups are numbered by range of taps, group, tile of places, and tile of filters, the last running fastest.
 */
const implicitGemm = productKernel<ImplicitGemmParams>('conv2d/implicit-gemm', (params, epilogue) => {
  const { tile, padding, isWhole, isClamped } = params;
  const { filters, places, step, laneFilters, lanePlaces } = tile;
  const threads = implicitGemmLanes(tile);
  const [lanesF, lanesP] = [filters / laneFilters, places / lanePlaces];
  const filter = filterStrip({ filters, step, threads, each: laneFilters, isWhole, isClamped });
  const input = inputStrip({ places, step, threads, each: lanePlaces, padding, isClamped });

  const products = repeat(step, (p) =>
    [
      filter.fetch(p),
      input.fetch(p),
      repeat(laneFilters, (i) =>
        repeat(
          lanePlaces / 4,
          (g) => `      sum${i}_${g} = fma(vec4f(${filter.value(i, p)}), ${input.vector(g, p)}, sum${i}_${g});`,
        ),
      ),
    ].join('\n'),
  );
  const stepFrom = (buffer: number): string => /* wgsl */ `
    {
      p += ${step}u;
${filter.read}
${input.read}
      const buffer = ${buffer}u;
${products}
    }
    {
      const buffer = ${1 - buffer}u;
${filter.store}
${input.store}
    }
    workgroupBarrier();`;
  const downOf = (i: number): number => Math.floor(i / 4) * 4 * lanesF + (i % 4);
  const stores = Array.from({ length: laneFilters }, (_, i) => {
    const filter = `group * u.filters + min(filter_index + ${downOf(i)}u, u.filters - 1u)`;
    return elementStore('sum', ['image', filter, 'row', 'column'], epilogue, `e${i}_`);
  });
  const storeTile = (isFull: boolean): string =>
    repeat(lanePlaces / 4, (g) =>
      repeat(4, (j) => {
        const elements = repeat(laneFilters, (i) => {
          const [at, sum] = [`at + ${downOf(i)}u * u.output_plane`, `sum${i}_${g}.${'xyzw'[j]}`];
          if (isFull && epilogue === undefined) return storeC({ at, acc: sum, checks: [] });
          const checks = isFull ? [] : [`filter_index + ${downOf(i)}u < u.filters`];
          return `        { let sum = ${sum}; ${(stores[i] as ElementStore).store(at, checks)} }`;
        });
        return /* wgsl */ `    {
      let place = first_place + lane_p + ${g * lanesP + (j * places) / 4}u;
      ${isFull ? '' : 'if (place < places) '}{
        let at = first_output + output_of(place);
${epilogue === undefined ? '' : 'image = place / u.image_places; row = place % u.image_places / u.output_width; column = place % u.output_width;'}
${elements}
      }
    }`;
      }),
    );

  return {
    name: `conv2d/implicit-gemm ${filters}x${places}x${step} ${laneFilters}x${lanePlaces} ${padding}${isWhole ? ' whole' : ''}${isClamped ? ' clamped' : ''}`,
    storage: {
      input: { access: 'read', type: 'array<f32>' },
      weights: { access: 'read', type: 'array<f32>' },
      output: { access: 'read_write', type: 'array<f32>' },
    },
    uniforms: {
      ...windowUniforms,
      // Output entries of an image in a plane.
      image_places: 'u32',
      // Taps of a range, and elements between the sums of two ranges.
      ...ofType('u32', 'depth output_split'),
    },
    code: /* wgsl */ `
${windowFunctions}
${STORE}
${filter.memory}
${input.memory}

fn output_of(place: u32) -> u32 {
  return place / u.image_places * u.output_image + place % u.image_places;
}

${mainOf(threads)}
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let places = u.rows * u.output_width;
  let filter_tiles = (u.filters + ${filters - 1}u) / ${filters}u;
  let place_tiles = (places + ${places - 1}u) / ${places}u;
  let first_filter = number % filter_tiles * ${filters}u;
  let first_place = number / filter_tiles % place_tiles * ${places}u;
  let group = number / filter_tiles / place_tiles % u.groups;
  let split = number / filter_tiles / place_tiles / u.groups;
  let begin = split * u.depth;
  let end = min(begin + u.depth, u.channels * u.filter_height * u.filter_width);

  // Blocks of 4 x 8 invocations.
  let warp = lane / 32u;
  let lane_f = (warp / ${lanesP / 8}u) * 4u + (lane % 32u) / 8u;
  let lane_p = (warp % ${lanesP / 8}u) * 8u + lane % 8u;
${filter.declare}
${input.declare}
${repeat(laneFilters, (i) => repeat(lanePlaces / 4, (g) => `  var sum${i}_${g} = vec4f();`))}

  var p = begin;
${input.prepare}
${filter.read}
${input.read}
  {
    const buffer = 0u;
${filter.store}
${input.store}
  }
  workgroupBarrier();
  // Two steps an iteration, so that the buffer is a constant in each. Taps beyond \`end\` are zeros, of both operands.
  let iterations = (end - begin + ${2 * step - 1}u) / ${2 * step}u;
  for (var iteration = 0u; iteration < iterations; iteration++) {
${input.advance}
${stepFrom(0)}
${stepFrom(1)}
  }

  let filter_index = first_filter + lane_f * 4u;
  let first_output = u.output_at + split * u.output_split + (group * u.filters + filter_index) * u.output_plane;
${epilogue === undefined ? '' : BY_FILTER}
${stores.map(({ loads }) => loads).join('\n')}
  if (first_filter + ${filters}u <= u.filters && first_place + ${places}u <= places && u.accumulate == 0u) {
${storeTile(true)}
  } else {
${storeTile(false)}
  }
}`,
  };
});

/** WGSL: the place, which what the epilogue reads does not depend on: that is read once for all places of a filter. */
const BY_FILTER = /* wgsl */ `
  var image = 0u;
  var row = 0u;
  var column = 0u;`;

/** Invocations of a workgroup, each of which adds one entry. */
const ADD_SPLITS_GROUP = 256;

/**
 * The second half of a convolution whose taps were split into ranges: output[i] = sum over ranges of sums[range, i]. Ranges
 * are added in order, so that equal calls give equal bits.
 */
const addSplits = productKernel<object>('conv2d/add-splits', (_, epilogue) => {
  const place = [
    'entry / u.output_width / u.output_height / u.filters',
    'entry / u.output_width / u.output_height % u.filters',
    'entry / u.output_width % u.output_height',
    'entry % u.output_width',
  ];
  const { loads, store } = elementStore('sum', place, epilogue, 'e');
  return {
    name: 'conv2d/add-splits',
    storage: {
      sums: { access: 'read', type: 'array<f32>' },
      output: { access: 'read_write', type: 'array<f32>' },
    },
    // Filters of all groups.
    uniforms: ofType('u32', 'entries splits output_at accumulate filters output_height output_width'),
    code: /* wgsl */ `
${STORE}
${mainOf(ADD_SPLITS_GROUP)}
  let group = group_index(id, grid);
  let entry = group * ${ADD_SPLITS_GROUP}u + lane;
  if (group >= u.group_count || entry >= u.entries) { return; }
${loads}
  var sum = sums[entry];
  for (var split = 1u; split < u.splits; split++) { sum += sums[split * u.entries + entry]; }
${store('u.output_at + entry', [])}
}`,
  };
});

/** Tiles for GPUs, and how fast each is where it fits: on an NVIDIA H200, but the last is a guess. Of equals the first is taken. */
const TILE_SPEEDS: readonly (readonly [Tile, number])[] = [
  [{ filters: 128, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 128, places: 64, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 64, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 64, places: 64, step: 8, laneFilters: 8, lanePlaces: 8 }, 0.88],
  [{ filters: 32, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 0.7],
];

/** Multiprocessors of the GPU that was measured: WebGPU does not tell. Where it is wrong, the choice is merely less good. */
const MULTIPROCESSORS = 132;
/** Invocations of a multiprocessor from which more make it no faster. */
const BUSY = 256;
/** Iterations of a range of taps, more than one: as ranges are whole iterations, two would else be rounded to one. */
const MIN_ITERATIONS = 2;
const MAX_SPLITS = 48;
/** The number of taps that take as long as to write the sum over a range and to add it up. */
const TAPS_OF_SUM = 30;
const FLOAT_BYTES = 4;

const TILE_OF: ReadonlyMap<string, Tile> = new Map(TILE_SPEEDS.map(([tile]) => [idOf(tile), tile]));

/** Convolution as a product whose second matrix is never stored: for GPUs. */
export const implicitGemmTable: Conv2dTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) => {
    if (traits.isSoftware) return [];
    const products = tilesOn(traits).flatMap(([tile]) =>
      FITS.map((fit) => implicitGemm({ tile, ...fit, isClamped: !traits.checksBounds })),
    );
    return [...products, addSplits({})];
  },
  candidates: (shape, traits) => {
    const [first, ...others] = traits.isSoftware ? [] : tilesOn(traits).map((rated) => scored(rated, shape, traits));
    if (first === undefined) return undefined;
    const best = others.reduce((before, each) => (each.score > before.score ? each : before), first);
    return { variants: [first, ...others].map(({ variant }) => variant), preferred: best.variant, rank: best.score };
  },
  launch: ({ shape, input, weights, output, uniforms, epilogue }, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const { id, splits: wanted } = variant;
    const taps = shape.channels * shape.filterHeight * shape.filterWidth;
    const perIteration = iterationTaps(tile);
    const depth = Math.ceil(taps / wanted / perIteration) * perIteration;
    const splits = Math.ceil(taps / depth);
    const isClamped = !recorder.traits.checksBounds;
    const params = { tile, ...fitOf(shape, taps % perIteration === 0), isClamped };
    const ofTile = { ...uniforms, image_places: shape.outputRows * shape.outputWidth, depth };
    const groups = splits * tilesOf(tile, shape);
    const bound = epilogue && bindEpilogue(epilogue, 1, recorder.traits.storageAlignment);
    if (splits === 1) {
      recorder.launch({
        kernel: implicitGemm(params, bound?.spec),
        storage: { input, weights, output, ...bound?.storage },
        uniforms: { ...ofTile, output_split: 0, ...bound?.uniforms },
        groups,
        variant: id,
      });
      return;
    }
    // The output of a window lies in one piece.
    const filters = shape.groups * shape.filters;
    const entries = shape.images * filters * shape.outputRows * shape.outputWidth;
    const sums = recorder.scratch(splits * entries * FLOAT_BYTES);
    recorder.launch({
      kernel: implicitGemm(params),
      storage: { input, weights, output: sums },
      uniforms: { ...ofTile, output_split: entries, output_at: 0, accumulate: 0 },
      groups,
      variant: id,
    });
    recorder.launch({
      kernel: addSplits({}, bound?.spec),
      storage: { sums, output, ...bound?.storage },
      uniforms: { ...uniforms, entries, splits, filters, ...bound?.uniforms },
      groups: Math.ceil(entries / ADD_SPLITS_GROUP),
    });
  },
};

/** The checks that the kernel need not make. */
function fitOf(shape: Conv2dShape, isWhole: boolean): Fit {
  if (isWhole && !shape.isPadded) return { padding: 'none', isWhole };
  const isSmall = shape.filterHeight <= MAX_ROWS && shape.filterWidth <= MAX_COLUMNS;
  return isSmall ? { padding: 'sets', isWhole } : { padding: 'coordinates', isWhole: false };
}

function idOf({ filters, places, step }: Tile): string {
  return `conv2d/implicit-gemm-${filters}x${places}x${step}`;
}

/** The tiles that a device has room for. */
function tilesOn({ maxInvocations, maxWorkgroupBytes }: DeviceTraits): typeof TILE_SPEEDS {
  return TILE_SPEEDS.filter(
    ([tile]) => implicitGemmLanes(tile) <= maxInvocations && implicitGemmBytes(tile) <= maxWorkgroupBytes,
  );
}

/** A tile with the number of ranges that suits it, and how fast that should be. */
function scored(
  [tile, speed]: (typeof TILE_SPEEDS)[number],
  shape: Conv2dShape,
  traits: DeviceTraits,
): { readonly variant: Variant; readonly score: number } {
  const { groups, filters, channels, filterHeight, filterWidth } = shape;
  const places = placesOf(shape);
  const tiles = tilesOf(tile, shape);
  const useful = (groups * filters * places) / (tiles * tile.filters * tile.places);
  const taps = channels * filterHeight * filterWidth;
  const sumsThatFit = Math.floor(traits.maxBindingBytes / FLOAT_BYTES / (groups * filters * places));
  const max = Math.max(1, Math.min(MAX_SPLITS, sumsThatFit, Math.floor(taps / iterationTaps(tile) / MIN_ITERATIONS)));
  let splits = 1;
  let score = 0;
  for (let count = 1; count <= max; count++) {
    // All multiprocessors work as long as the one that has the most to do, and those with few invocations wait for memory.
    const each = (tiles * count) / MULTIPROCESSORS;
    const busy = Math.min(1, (Math.max(1, each) * implicitGemmLanes(tile)) / BUSY);
    const sums = count > 1 ? TAPS_OF_SUM * count : 0;
    const countScore = speed * busy * useful * (each / Math.ceil(each)) * (taps / (taps + sums));
    if (countScore <= score) continue;
    score = countScore;
    splits = count;
  }
  return { variant: { id: idOf(tile), splits }, score };
}

/** Workgroups for one range of taps. */
function tilesOf(tile: Tile, shape: Conv2dShape): number {
  return shape.groups * Math.ceil(shape.filters / tile.filters) * Math.ceil(placesOf(shape) / tile.places);
}
