/** A run as `bench` writes it, the parts that are drawn. */
export interface Run {
  readonly arena: string;
  readonly device: string;
  readonly date: string;
  readonly contestants: readonly { readonly name: string; readonly role: string; readonly version: string }[];
  readonly cases: readonly {
    readonly op: string;
    readonly case: string;
    readonly flops: number;
    readonly entries: readonly { readonly name: string; readonly ms?: number }[];
  }[];
}

/** A case of a run: how long ours took, and how many times as long each other one. */
export interface Standing {
  readonly op: string;
  readonly name: string;
  readonly ms: number;
  readonly gflops: number;
  readonly others: ReadonlyMap<string, number>;
  /** The fastest other library; undefined where none ran. */
  readonly fastest: { readonly name: string; readonly ratio: number } | undefined;
  /** The vendor's library. */
  readonly limit: number | undefined;
}

/** The cases of a run that ours was timed in. */
export function standingsOf({ cases, contestants }: Run): readonly Standing[] {
  const named = (role: string): readonly string[] =>
    contestants.filter((each) => each.role === role).map(({ name }) => name);
  const [peers, limits] = [named('peer'), named('limit')];
  return cases.flatMap(({ op, case: name, flops, entries }) => {
    const ms = entries.find((each) => each.name === 'concord')?.ms;
    if (ms === undefined) return [];
    const others = new Map(
      entries.flatMap((each) => (each.ms === undefined ? [] : [[each.name, each.ms / ms] as const])),
    );
    const ran = peers.flatMap((peer) => {
      const ratio = others.get(peer);
      return ratio === undefined ? [] : [{ name: peer, ratio }];
    });
    const fastest = ran.sort((a, b) => a.ratio - b.ratio)[0];
    const limit = limits.flatMap((each) => others.get(each) ?? []).sort((a, b) => a - b)[0];
    return [{ op, name, ms, gflops: flops / ms / 1e6, others, fastest, limit }];
  });
}

/** The geometric mean, the least and the most. */
export function summaryOf(values: readonly number[]): {
  readonly mean: number;
  readonly min: number;
  readonly max: number;
} {
  const mean = Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
  return { mean, min: Math.min(...values), max: Math.max(...values) };
}
