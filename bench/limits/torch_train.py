"""The limits of training: steps of an MLP, ResNet-18 and GPT-2 with AdamW in eager PyTorch on the GPU of this machine, no TF32.

    python3 torch_train.py [--size whole|tiny] [--only mlp,resnet,gpt] [--list]

Prints JSON lines: one with the device and the versions, and one per case of `pnpm bench train`, {"op", "case", "eager_ms",
"eager_rounds", "losses"}: the median of 7 rounds of steps, with one wait at the end of a round, and the losses of the first
steps. Parameters and batches are those of src/train/works.ts, number for number. --list prints the names of the cases and needs
no PyTorch.
"""

import argparse
import json
import statistics

from torch_rounds import eager_rounds, open_torch

CHECKED_STEPS, RATE = 4, 1e-4
CHANNELS, BLOCKS = (64, 128, 256, 512), 2
SIZES = {
    "whole": dict(
        mlp=(128, (784, 512, 512, 10)), resnet=(32, 224), gpt=dict(batch=8, length=512, width=768, heads=12, layers=12, vocab=50257, context=1024)
    ),
    "tiny": dict(
        mlp=(8, (12, 16, 16, 10)), resnet=(1, 64), gpt=dict(batch=2, length=16, width=64, heads=4, layers=2, vocab=256, context=64)
    ),
}


class Numbers:
    """Parameters one after the other, each seeded by its place: see seededNumbers of src/train/works.ts."""

    def __init__(self, torch):
        self.torch, self.all = torch, []

    def at(self, seed, shape, bound):
        torch, mask, count = self.torch, 2**32 - 1, 1
        for length in shape:
            count *= length
        bits = torch.arange(count, dtype=torch.int64, device="cuda") + seed * 0x9E3779B9 & mask
        bits = (bits ^ bits >> 16) * 0x7FEB352D & mask
        # A product of 32 by 32 bits may exceed 63: its lower 32 are right all the same.
        bits = (bits ^ bits >> 15) * 0x846CA68B & mask
        bits = bits ^ bits >> 16
        return (((bits >> 8).double() / 2**23 - 1) * bound).float().reshape(shape)

    def random(self, shape, bound, about=0):
        numbers = self.at(len(self.all) + 1, shape, bound)
        self.all.append((numbers + about if about else numbers).requires_grad_())
        return self.all[-1]

    def layer(self, to, source):
        return self.random((to, source), (6 / source) ** 0.5), self.random((to,), 0.125)

    def classes(self, count, classes, first=0):
        return ((self.torch.arange(count, device="cuda") + first) * 7919 + 5) % classes


def mlp(torch, own, batch, widths):
    functional = torch.nn.functional
    layers = [own.layer(to, source) for source, to in zip(widths, widths[1:])]
    x, classes = own.at(0, (batch, widths[0]), 1), own.classes(batch, 10)

    def loss():
        y = x
        for index, (weight, bias) in enumerate(layers):
            y = functional.linear(y, weight, bias)
            y = y if index == len(layers) - 1 else functional.relu(y)
        return functional.cross_entropy(y, classes)

    return loss


def resnet(torch, own, batch, pixels):
    functional = torch.nn.functional

    def layer(to, source, width, gain):
        bound = gain * (6 / (source * width * width)) ** 0.5
        return own.random((to, source, width, width), bound), own.random((to,), 0.25, 1), own.random((to,), 0.125)

    stem, blocks, source = layer(64, 3, 7, 1), [], 64
    for stage, to in enumerate(CHANNELS):
        for index in range(BLOCKS):
            stride = 2 if index == 0 and stage > 0 else 1
            first, second = layer(to, source, 3, 1), layer(to, to, 3, 1)
            blocks.append((stride, first, second, layer(to, source, 1, 1) if stride == 2 else None))
            source = to
    last = own.layer(1000, source)
    images, classes = own.at(0, (batch, 3, pixels, pixels), 1), own.classes(batch, 1000)

    def convolved(x, parts, stride, padding):
        filters, weight, bias = parts
        y = functional.conv2d(x, filters, stride=stride, padding=padding)
        return functional.batch_norm(y, None, None, weight, bias, training=True)

    def loss():
        x = functional.max_pool2d(functional.relu(convolved(images, stem, 2, 3)), 3, 2, 1)
        for stride, first, second, shortcut in blocks:
            y = convolved(functional.relu(convolved(x, first, stride, 1)), second, 1, 1)
            x = functional.relu(y + (x if shortcut is None else convolved(x, shortcut, stride, 0)))
        return functional.cross_entropy(functional.linear(x.mean((2, 3)), *last), classes)

    return loss


def gpt(torch, own, batch, length, width, heads, layers, vocab, context):
    functional = torch.nn.functional

    def norm():
        return own.random((width,), 0.25, 1), own.random((width,), 0.125)

    def product(to, source):
        return own.random((to, source), 0.035), own.random((to,), 0.035)

    def block():
        return (
            *(norm(), product(3 * width, width), product(width, width)),
            *(norm(), product(4 * width, width), product(width, 4 * width)),
        )

    tokens, positions = own.random((vocab, width), 0.035), own.random((context, width), 0.035)
    blocks, last = [block() for _ in range(layers)], norm()
    ids = own.classes(batch * length, vocab).view(batch, length)
    targets = own.classes(batch * length, vocab, 1)

    def normed(x, parts):
        return functional.layer_norm(x, (width,), *parts)

    def loss():
        x = functional.embedding(ids, tokens) + positions[:length]
        for norm1, qkv, merge, norm2, up, down in blocks:
            parts = functional.linear(normed(x, norm1), *qkv).view(batch, length, 3, heads, width // heads)
            attended = functional.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), is_causal=True)
            x = x + functional.linear(attended.transpose(1, 2).reshape(batch, length, width), *merge)
            x = x + functional.linear(functional.gelu(functional.linear(normed(x, norm2), *up), approximate="tanh"), *down)
        logits = functional.linear(normed(x, last), tokens)
        return functional.cross_entropy(logits.view(batch * length, vocab), targets)

    return loss


def names_of(which, size):
    """(op, case) of a work."""
    if which == "mlp":
        batch, widths = size
        return "train_mlp", f"f32 {batch}x{'-'.join(map(str, widths))}"
    if which == "resnet":
        batch, pixels = size
        return "train_resnet18", f"f32 {batch}x3x{pixels}x{pixels}"
    return "train_gpt", f"f32 {size['batch']}x{size['length']}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=sorted(SIZES), default="whole")
    parser.add_argument("--only", default="mlp,resnet,gpt")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    size = SIZES[options.size]
    if options.list:
        for which in options.only.split(","):
            print(*names_of(which, size[which]))
        return
    torch = open_torch()
    for which in options.only.split(","):
        op, case = names_of(which, size[which])
        own = Numbers(torch)
        if which == "gpt":
            loss_of = gpt(torch, own, **size[which])
        else:
            loss_of = {"mlp": mlp, "resnet": resnet}[which](torch, own, *size[which])
        optimizer = torch.optim.AdamW(own.all, lr=RATE, weight_decay=0.01)

        def step():
            optimizer.zero_grad()
            loss = loss_of()
            loss.backward()
            optimizer.step()
            return loss

        losses = [step().item() for _ in range(CHECKED_STEPS)]
        rounds = eager_rounds(torch, step)
        times = {"eager_ms": round(statistics.median(rounds), 5), "eager_rounds": [round(each, 5) for each in rounds]}
        print(json.dumps({"op": op, "case": case, **times, "losses": losses}), flush=True)


if __name__ == "__main__":
    main()
