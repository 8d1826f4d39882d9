"""The scores of ResNet-18 for the weights and the image that bench/src/resnet/network.ts makes.

    python3 resnet_reference.py           works them out in float64 with NumPy alone, and writes resnet-scores.json
    python3 resnet.py --torch   compares them with PyTorch's, in float32 and float64, and times a batch
"""

import json
import pathlib
import sys

import numpy as np

CHANNELS = [64, 128, 256, 512]
BLOCKS = 2
CLASSES = 1000
SIZE = 64
FILE = pathlib.Path(__file__).with_name("resnet-scores.json")


def seeded(shape, seed, bound):
    """The numbers of bench/src/resnet/network.ts, bit for bit."""
    with np.errstate(over="ignore"):
        bits = np.arange(np.prod(shape), dtype=np.uint32) + np.uint32(seed * 0x9E3779B9 % 2**32)
        bits = (bits ^ (bits >> np.uint32(16))) * np.uint32(0x7FEB352D)
        bits = (bits ^ (bits >> np.uint32(15))) * np.uint32(0x846CA68B)
        bits = bits ^ (bits >> np.uint32(16))
    unit = (bits >> np.uint32(8)).astype(np.float64) / 2**23 - 1
    return (unit * bound).astype(np.float32).reshape(shape)


def blocks():
    for stage, to in enumerate(CHANNELS):
        for index in range(BLOCKS):
            first = index == 0 and stage > 0
            yield f"layer{stage + 1}.{index}", CHANNELS[stage - 1] if first else to, to, 2 if first else 1


def parameters():
    """Weights and biases by name, in the order of bench/src/resnet/architecture.ts."""
    layers = [("conv1", (CHANNELS[0], 3, 7, 7), 1)]
    for name, source, to, stride in blocks():
        layers.append((f"{name}.conv1", (to, source, 3, 3), 1))
        layers.append((f"{name}.conv2", (to, to, 3, 3), 0.5))
        if stride == 2:
            layers.append((f"{name}.downsample", (to, source, 1, 1), 0.75))
    layers.append(("fc", (CLASSES, CHANNELS[-1]), 1))
    result = {}
    for name, shape, gain in layers:
        fan_in = int(np.prod(shape[1:]))
        result[f"{name}.weight"] = seeded(shape, len(result) + 1, gain * np.sqrt(6 / fan_in))
        result[f"{name}.bias"] = seeded(shape[:1], len(result) + 1, 0.125)
    return result


def image(batch, size):
    return seeded((batch, 3, size, size), 0, 1)


def windows(x, size, stride, padding, value):
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)], constant_values=value)
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))[:, :, ::stride, ::stride]


def forward(p, x, conv, pool, mean, relu):
    """The network by the four functions that NumPy and PyTorch have each in its own way."""
    y = pool(relu(conv(x, p["conv1.weight"], p["conv1.bias"], 2, 3)))
    for name, _, _, stride in blocks():
        layer = lambda part, at, step, pad: conv(at, p[f"{name}.{part}.weight"], p[f"{name}.{part}.bias"], step, pad)
        shortcut = layer("downsample", y, 2, 0) if stride == 2 else y
        y = relu(layer("conv2", relu(layer("conv1", y, stride, 1)), 1, 1) + shortcut)
    return mean(y) @ p["fc.weight"].T + p["fc.bias"]


def by_numpy():
    def conv(x, w, b, stride, padding):
        y = np.tensordot(windows(x, w.shape[-1], stride, padding, 0), w, ((1, 4, 5), (1, 2, 3)))
        return y.transpose(0, 3, 1, 2) + b[:, None, None]

    p = {name: value.astype(np.float64) for name, value in parameters().items()}
    pool = lambda x: windows(x, 3, 2, 1, -np.inf).max((4, 5))
    return forward(p, image(1, SIZE).astype(np.float64), conv, pool, lambda x: x.mean((2, 3)), lambda x: np.maximum(x, 0))[0]


def by_torch(dtype, batch=1, size=SIZE, device="cpu", runs=1):
    import time

    import torch
    import torch.nn.functional as f

    made = {name: torch.from_numpy(value).to(device, dtype) for name, value in parameters().items()}
    x = torch.from_numpy(image(batch, size)).to(device, dtype)
    conv = lambda x, w, b, stride, padding: f.conv2d(x, w, b, stride, padding)
    seconds = []
    with torch.no_grad():
        for _ in range(runs):
            started = time.perf_counter()
            y = forward(made, x, conv, lambda x: f.max_pool2d(x, 3, 2, 1), lambda x: x.mean((2, 3)), f.relu)
            if device == "cuda":
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - started)
    return y[0].double().cpu().numpy(), min(seconds)


if "--torch" in sys.argv:
    import torch

    torch.backends.cudnn.allow_tf32 = False
    want = np.array(json.loads(FILE.read_text())["scores"])
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    for device in devices:
        for dtype in (torch.float64, torch.float32):
            scores, _ = by_torch(dtype, device=device)
            print(f"{device} {dtype}: {np.abs(scores - want).max() / np.abs(want).max():.1e} from resnet-scores.json")
        _, seconds = by_torch(torch.float32, 16, 224, device, 5)
        print(f"{device}: 16 images of 3 x 224 x 224 in {1000 * seconds:.1f} ms")
else:
    scores = by_numpy()
    FILE.write_text(json.dumps({"size": SIZE, "scores": [float(f"{score:.9g}") for score in scores]}) + "\n")
    print(f"{FILE.name}: {len(scores)} scores from {scores.min():.4f} to {scores.max():.4f}")
