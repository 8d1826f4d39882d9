"""How the scripts open PyTorch, and take their times."""

import json
import math
import statistics
import sys
import time
from pathlib import Path

ROUNDS = 7
ROUND_MS = 20.0
MAX_CALLS_IN_A_GRAPH = 500


def open_torch():
    """PyTorch without TF32; prints the device and the versions as a JSON line. Without PyTorch or a GPU the program ends."""
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is not installed")
    if not torch.cuda.is_available():
        sys.exit("PyTorch finds no CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    versions = f"torch@{torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"
    about = {"device": torch.cuda.get_device_name(), "driver": driver_version(), "versions": versions}
    print(json.dumps(about), flush=True)
    return torch


def driver_version():
    try:
        return Path("/sys/module/nvidia/version").read_text().strip()
    except OSError:
        return "unknown"


def median_ms(torch, call):
    """Median milliseconds of one of many calls back to back."""
    return statistics.median(graph_rounds(torch, call))


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
    # What a call takes in a graph is less than what it took alone, by the launch.
    replays = math.ceil(max(1, ROUND_MS / max(timed(graph.replay), 1e-3)))

    def replay():
        for _ in range(replays):
            graph.replay()

    return [timed(replay) / (calls * replays) for _ in range(ROUNDS)]


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
