"""How the scripts for whole models take their times."""

import math
import time

ROUNDS = 7
ROUND_MS = 20.0
MAX_CALLS_IN_A_GRAPH = 300


def graph_rounds(torch, call):
    """Milliseconds of a call in each round, replayed."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.synchronize()

    def timed(run):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end)

    once = max(min(timed(call) for _ in range(3)), 1e-3)
    calls = int(min(max(math.ceil(ROUND_MS / once), 1), MAX_CALLS_IN_A_GRAPH))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    timed(graph.replay)
    return [timed(graph.replay) / calls for _ in range(ROUNDS)]


def eager_rounds(torch, call):
    """Milliseconds of a call in each round, launched from Python."""

    def timed(calls):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e3

    timed(5)
    calls = max(1, math.ceil(ROUND_MS / max(timed(5) / 5, 1e-3)))
    return [timed(calls) / calls for _ in range(ROUNDS)]
