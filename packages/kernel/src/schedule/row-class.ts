/** The way in which a row is computed: by a team of lanes, its elements kept in registers or read again for each phase. */
export interface RowClass {
  /** Lanes that share a row: 1, or a power of two. */
  readonly team: number;
  /** Rows that a workgroup works on. */
  readonly rows: number;
  /** Vectors that a lane keeps; 0 where rows are read again in each phase. */
  readonly vectors: 0 | KeptVectors;
}

/** Vectors, or if there are none elements, that a lane can keep. */
export type KeptVectors = 1 | 2 | 4 | 8 | 16 | 32;

/** The facts that decide on a {@link RowClass}. */
export interface RowQuestion {
  /** Elements of a row. */
  readonly length: number;
  /** Elements of a vector. */
  readonly width: number;
  /** Rows that there are. */
  readonly count: number;
  /** Phases that read the row, storing counted. */
  readonly passes: number;
  /** The maximum number of lanes of a workgroup. */
  readonly maxLanes: number;
  /** Teams are expensive: a device without its own lanes. */
  readonly prefersLanes: boolean;
}

/**
 * Lanes and vectors by vectors of a row, as they were fastest on an H200: a workgroup a row from 64 lanes on, several
 * rows a workgroup below, and two vectors or more a lane where there are enough.
 */
const BY_VECTORS: readonly Class[] = [
  [32, 16, 4, 2],
  [128, 64, 1, 2],
  [256, 64, 1, 4],
  [512, 128, 1, 4],
  [1024, 256, 1, 4],
  [2048, 512, 1, 4],
  [4096, 1024, 1, 4],
  [8192, 1024, 1, 8],
];

/** The same by elements, where they are not vectors: twice as many loads of a lane, four times narrower. */
const BY_ELEMENTS: readonly Class[] = [
  [32, 32, 4, 1],
  [512, 64, 1, 8],
  [1024, 128, 1, 8],
  [8192, 512, 1, 16],
  [32768, 1024, 1, 32],
];

type Class = readonly [most: number, team: number, rows: number, vectors: KeptVectors];

/** Lanes of a workgroup whose lanes work alone. */
const ALONE = 64;
/** Shorter rows than this many vectors leave most of a team idle. */
const SHORT = 4;

/** Every class that could work on such a row, the best first. */
export function rowClasses(question: RowQuestion): readonly RowClass[] {
  const { length, width, passes, maxLanes, prefersLanes } = question;
  const vectors = Math.ceil(length / width);
  const alone: RowClass = { team: 1, rows: Math.min(ALONE, maxLanes), vectors: 0 };
  const again: RowClass = { team: againTeam(vectors, question), rows: 1, vectors: 0 };
  const classes = width === 1 ? BY_ELEMENTS : BY_VECTORS;
  const kept =
    classes.find(([most, team, rows]) => vectors <= most && team * rows <= maxLanes) ??
    widest(vectors, width, maxLanes);
  const inRegisters = kept === undefined ? [] : [{ team: kept[1], rows: kept[2], vectors: kept[3] }];
  const teams = passes > 1 || vectors <= 512 ? [...inRegisters, again] : [again, ...inRegisters];
  return prefersLanes || vectors <= SHORT ? [alone, ...teams] : [...teams, alone];
}

/** Returns the class with fewer lanes than the table wants: as many vectors a lane as there are registers for. */
function widest(vectors: number, width: number, maxLanes: number): Class | undefined {
  const team = floorPower(maxLanes);
  const each: readonly KeptVectors[] = width === 1 ? [8, 16, 32] : [2, 4, 8];
  const wanted = each.find((kept) => vectors <= team * kept);
  return wanted === undefined ? undefined : [vectors, team, 1, wanted];
}

function againTeam(vectors: number, { width, passes, maxLanes }: RowQuestion): number {
  // Elements that are no vectors are many loads: half as many lanes keep the memory busy; not so a cache.
  const most = width === 1 && passes === 1 ? 512 : 1024;
  const wanted = vectors >= 4096 ? most : vectors >= 1024 ? 256 : 128;
  return Math.min(wanted, floorPower(maxLanes));
}

function floorPower(value: number): number {
  return 2 ** Math.floor(Math.log2(value));
}
