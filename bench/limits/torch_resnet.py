"""The limit of a whole network: ResNet-18 with random weights in eager PyTorch on the GPU of this machine, no TF32.

    python3 torch_resnet.py [--batch 16] [--pixels 224] [--list]

Prints JSON lines: one with the device and the versions, and the case of `pnpm bench resnet`, {"op", "case", "eager_ms",
"eager_rounds"}: the median of 7 rounds of 20 ms or more of calls, with one wait at the end of a round. --list prints the name
of the case and needs no PyTorch. The norms are folded into the convolutions, as in bench/src/resnet.
"""

import argparse
import json
import statistics

from torch_rounds import eager_rounds, open_torch

CHANNELS = (64, 128, 256, 512)
BLOCKS = 2
CLASSES = 1000


def make_call(torch, batch, pixels):
    functional = torch.nn.functional

    def layer(source, to, size):
        bound = (6 / (source * size * size)) ** 0.5
        weight = (torch.rand(to, source, size, size, device="cuda") - 0.5) * bound
        return weight, torch.rand(to, device="cuda") - 0.5

    stem = layer(3, CHANNELS[0], 7)
    blocks, source = [], CHANNELS[0]
    for stage, to in enumerate(CHANNELS):
        for index in range(BLOCKS):
            stride = 2 if index == 0 and stage > 0 else 1
            shortcut = layer(source, to, 1) if stride == 2 else None
            blocks.append((stride, layer(source, to, 3), layer(to, to, 3), shortcut))
            source = to
    last = torch.rand(CLASSES, source, device="cuda") - 0.5, torch.rand(CLASSES, device="cuda") - 0.5
    images = torch.rand(batch, 3, pixels, pixels, device="cuda") - 0.5

    def call():
        x = functional.relu(functional.conv2d(images, *stem, stride=2, padding=3))
        x = functional.max_pool2d(x, 3, 2, 1)
        for stride, first, second, shortcut in blocks:
            residual = x if shortcut is None else functional.conv2d(x, *shortcut, stride=stride)
            y = functional.relu(functional.conv2d(x, *first, stride=stride, padding=1))
            x = functional.relu(functional.conv2d(y, *second, padding=1) + residual)
        return functional.linear(x.mean((2, 3)), *last)

    return call


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--pixels", type=int, default=224)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    op, case = "resnet18", f"f32 {options.batch}x3x{options.pixels}x{options.pixels}"
    if options.list:
        print(op, case)
        return
    torch = open_torch()
    with torch.no_grad():
        rounds = eager_rounds(torch, make_call(torch, options.batch, options.pixels))
    times = {"eager_ms": round(statistics.median(rounds), 5), "eager_rounds": [round(each, 5) for each in rounds]}
    print(json.dumps({"op": op, "case": case, **times}), flush=True)


if __name__ == "__main__":
    main()
