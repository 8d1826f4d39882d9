import { callStatement, type FunctionBody, i32, i8x16, type Local, v128, type Value } from '../../encoder/index.ts';
import { divided, lesser } from '../common/integers.ts';
import type { ColumnPacker } from '../gemm/pack-panels.ts';
import { TILE_COLUMNS } from '../gemm/micro-kernel.ts';
import { PRODUCT, type ProductArgument, type WindowArgument } from '../gemm/product-arguments.ts';

type ReadWord = (name: ProductArgument | WindowArgument) => Value<'i32'>;

/**
 * Packs columns of a convolution from float32 images without padding: column q + p Q holds, by channel, row and column of the
 * filter, the elements under it.
 */
export const windowColumns: ColumnPacker = (module) => {
  const pack = module.function(
    { params: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], result: 'none' },
    (body, args, to, batch, column, columns, first, depth) => {
      const word: ReadWord = (name) => PRODUCT.word(args, name);
      const image = body.let(i32.add(word('b'), i32.shl(i32.mul(batch, word('strideB')), 2)));
      // Where the depth begins: its channel, row and column of the filter.
      const { quotient: rows, remainder: filterColumn } = divided(body, first, word('filterWidth'));
      const { quotient: channel, remainder: filterRow } = divided(body, rows, word('filterHeight'));
      const inChannel = i32.add(i32.mul(filterRow, rowOfFilter(word)), i32.mul(filterColumn, word('nextColumn')));
      const start = body.let(i32.add(image, i32.shl(i32.add(i32.mul(channel, planeOf(word)), inChannel), 2)));
      const walk = { filterColumn, filterRow, depth };
      const j = body.let(i32.const(0));
      body.while(i32.ltU(j, columns), () => {
        const { quotient: p, remainder: q } = divided(body, i32.add(column, j), word('outputWidth'));
        const left = body.let(i32.sub(columns, j));
        // Columns from here on that lie in one row of the image.
        const inRow = body.let(lesser(left, i32.sub(word('outputWidth'), q)));
        const isDense = i32.eq(word('columnStep'), 1);
        const source = body.let(i32.add(start, i32.shl(placeOf(word, p, q), 2)));
        body.if(
          i32.and(isDense, i32.geU(inRow, 2 * TILE_COLUMNS)),
          () => {
            copyColumns(body, word, walk, source, to, 2, v128.load);
            body.increase(j, 2 * TILE_COLUMNS);
          },
          () => {
            const isWhole = i32.geU(inRow, TILE_COLUMNS);
            const isHalf = i32.eq(word('columnStep'), 2);
            body.if(
              i32.and(isDense, isWhole),
              () => copyColumns(body, word, walk, source, to, 1, v128.load),
              () =>
                body.if(
                  i32.and(isHalf, isWhole),
                  () => copyColumns(body, word, walk, source, to, 1, everyOther),
                  () => gatherColumns(body, word, { ...walk, to, start, p, q, left }),
                ),
            );
            body.increase(j, TILE_COLUMNS);
          },
        );
      });
    },
  );
  return (args, { to, batch, column, columns, first, depth }) =>
    callStatement(pack, args, to, batch, column, columns, first, depth);
};

/** Elements from a row of the filter to the next, and from a channel of the image to the next. */
const rowOfFilter = (word: ReadWord): Value<'i32'> =>
  i32.add(word('nextRow'), i32.mul(i32.sub(word('filterWidth'), 1), word('nextColumn')));
const planeOf = (word: ReadWord): Value<'i32'> =>
  i32.add(word('nextPlane'), i32.mul(word('filterHeight'), rowOfFilter(word)));
/** The element of a plane that is first under the filter for an output. */
const placeOf = (word: ReadWord, p: Local<'i32'>, q: Local<'i32'>): Value<'i32'> =>
  i32.add(i32.mul(p, word('rowStep')), i32.mul(q, word('columnStep')));

interface Walk {
  /** The first place in the filter of the block of the depth. */
  readonly filterColumn: Local<'i32'>;
  readonly filterRow: Local<'i32'>;
  readonly depth: Local<'i32'>;
}

/** Statements for each place of the depth, while `source` follows the filter's elements in the image. */
function walkFilter(
  body: FunctionBody,
  word: ReadWord,
  walk: Walk,
  source: Local<'i32'>,
  statements: () => void,
): void {
  const column = body.let(walk.filterColumn);
  const row = body.let(walk.filterRow);
  const [nextColumn, nextRow, nextPlane] = [
    body.let(i32.shl(word('nextColumn'), 2)),
    body.let(i32.shl(word('nextRow'), 2)),
    body.let(i32.shl(word('nextPlane'), 2)),
  ];
  const [width, height] = [body.let(word('filterWidth')), body.let(word('filterHeight'))];
  body.for(0, walk.depth, 1, () => {
    statements();
    body.increase(column, 1);
    body.if(
      i32.ltU(column, width),
      () => body.increase(source, nextColumn),
      () => {
        body.set(column, 0);
        body.increase(source, nextRow);
        body.increase(row, 1);
        body.if(i32.eq(row, height), () => {
          body.set(row, 0);
          body.increase(source, nextPlane);
        });
      },
    );
  });
}

/**
 * Some panels of columns whose elements are neighbours in the image, or every other one; afterwards `to` is their end.
 *
 * @param load - gives four of them
 */
function copyColumns(
  body: FunctionBody,
  word: ReadWord,
  walk: Walk,
  source: Local<'i32'>,
  to: Local<'i32'>,
  panels: number,
  load: typeof v128.load | typeof everyOther,
): void {
  const targets = [to];
  for (let panel = 1; panel < panels; panel++) {
    targets.push(body.let(i32.add(targets[panel - 1] as Local<'i32'>, i32.mul(walk.depth, 4 * TILE_COLUMNS))));
  }
  walkFilter(body, word, walk, source, () => {
    for (const [panel, target] of targets.entries()) {
      for (let half = 0; half < 4 * TILE_COLUMNS; half += 16) {
        const offset = (4 * TILE_COLUMNS * panel + half) * (load === everyOther ? 2 : 1);
        body.emit(v128.store(target, load(source, offset), half));
      }
      body.increase(target, 4 * TILE_COLUMNS);
    }
  });
  if (panels > 1) body.set(to, targets[panels - 1] as Local<'i32'>);
}

interface Gather extends Walk {
  readonly to: Local<'i32'>;
  readonly start: Local<'i32'>;
  readonly p: Local<'i32'>;
  readonly q: Local<'i32'>;
  readonly left: Local<'i32'>;
}

/** Columns that are no neighbours in the image. The last one stands in for those that are missing. */
function gatherColumns(body: FunctionBody, word: ReadWord, gather: Gather): void {
  const { to, start, left } = gather;
  const [p, q] = [body.let(gather.p), body.let(gather.q)];
  const places: Local<'i32'>[] = [];
  for (let column = 0; column < TILE_COLUMNS; column++) {
    places.push(body.let(i32.shl(placeOf(word, p, q), 2)));
    body.if(i32.ltU(column + 1, left), () => {
      body.increase(q, 1);
      body.if(i32.eq(q, word('outputWidth')), () => {
        body.set(q, 0);
        body.increase(p, 1);
      });
    });
  }
  const source = body.let(start);
  walkFilter(body, word, gather, source, () => {
    for (let half = 0; half < TILE_COLUMNS; half += 4) {
      let four = v128.load32Zero(i32.add(source, places[half] as Local<'i32'>));
      for (let lane = 1; lane < 4; lane++) {
        four = v128.load32Lane(i32.add(source, places[half + lane] as Local<'i32'>), four, lane);
      }
      body.emit(v128.store(to, four, 4 * half));
    }
    body.increase(to, 4 * TILE_COLUMNS);
  });
}

/** The bytes of words 0, 2, 5 and 7 of two vectors. */
const BYTES = [0, 2, 5, 7].flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte));

/** Float32 0, 2, 4 and 6 at an address, from words 0 to 3 and 3 to 6: nothing after them is read. */
export function everyOther(source: Local<'i32'>, offset: number): Value<'v128'> {
  return i8x16.shuffle(v128.load(source, offset), v128.load(source, offset + 12), BYTES);
}
