"""The limits of a whole transformer: GPT-2 with random weights in PyTorch on the GPU of this machine, no TF32.

    python3 torch_gpt.py [--size small|example|tiny] [--dtype f32,f16] [--list]

Prints JSON lines: one with the device and the versions, and one per case of `pnpm bench gpt`, {"op", "case", "ms",
"rounds", "eager_ms", "eager_rounds"}. "ms" is the median of 7 rounds of 20 ms or more of calls that are recorded into a
CUDA graph and replayed; "eager_ms" that of as many calls launched from Python, with one wait at the end of a round. A case
that fails has "failed" in place of its times. --list prints the names of the cases and needs no PyTorch.
"""

import argparse
import json
import statistics

from torch_rounds import eager_rounds, graph_rounds, open_torch

# As in src/gpt/cases.ts.
SIZES = {
    "small": dict(width=768, heads=12, layers=12, vocab=50257, context=1024, cached=512, prefills=((1, 1024), (8, 1024))),
    "example": dict(width=192, heads=6, layers=4, vocab=1024, context=256, cached=128, prefills=((1, 256),)),
    "tiny": dict(width=64, heads=4, layers=2, vocab=256, context=64, cached=32, prefills=((1, 64), (2, 64))),
}


def make_model(torch, width, heads, layers, vocab, context):
    functional = torch.nn.functional

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
            self.qkv, self.merge = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
            self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

        def forward(self, x, cache, at):
            batch, length, _ = x.shape
            parts = self.qkv(self.norm1(x)).view(batch, length, 3, heads, width // heads)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
            if cache is not None:
                cache[0][:, :, at : at + length] = k
                cache[1][:, :, at : at + length] = v
                k, v = cache[0][:, :, : at + length], cache[1][:, :, : at + length]
            attended = functional.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
            x = x + self.merge(attended.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class Gpt2(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = torch.nn.Embedding(vocab, width)
            self.positions = torch.nn.Embedding(context, width)
            self.blocks = torch.nn.ModuleList(Block() for _ in range(layers))
            self.norm = torch.nn.LayerNorm(width)

        def forward(self, ids, caches=None, at=0):
            x = self.tokens(ids) + self.positions(torch.arange(at, at + ids.shape[1], device=ids.device))
            for i, block in enumerate(self.blocks):
                x = block(x, None if caches is None else caches[i], at)
            return self.norm(x[:, -1:]) @ self.tokens.weight.t()

    return Gpt2()


def works(dtypes, cached, prefills):
    """(type, op, case, texts, tokens of each)."""
    for dtype in dtypes:
        yield dtype, "gpt_decode", f"{dtype} at {cached}", 1, 1
        for batch, length in prefills:
            yield dtype, "gpt_prefill", f"{dtype} {batch}x{length}", batch, length


def cases(torch, dtypes, width, heads, layers, vocab, context, cached, prefills):
    """(op, case, call), each made when it is its turn."""
    model, made = None, None
    for name, op, case, batch, length in works(dtypes, cached, prefills):
        dtype = {"f32": torch.float32, "f16": torch.float16}[name]
        if made != name:
            model, made = make_model(torch, width, heads, layers, vocab, context).to("cuda", dtype).eval(), name
        ids = torch.randint(0, vocab, (batch, length), device="cuda")
        if op == "gpt_prefill":
            yield op, case, lambda: model(ids)
            continue
        caches = [
            [(torch.rand(1, heads, context, width // heads, device="cuda") - 0.5).to(dtype) for _ in range(2)]
            for _ in range(layers)
        ]
        yield op, case, lambda: model(ids, caches, cached)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--dtype", default="f32,f16")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    size, dtypes = SIZES[options.size], options.dtype.split(",")
    if options.list:
        for _, op, case, _, _ in works(dtypes, size["cached"], size["prefills"]):
            print(op, case)
        return
    torch = open_torch()
    with torch.no_grad():
        for op, case, call in cases(torch, dtypes, **size):
            try:
                graph, eager = graph_rounds(torch, call), eager_rounds(torch, call)
                times = {
                    "ms": round(statistics.median(graph), 5),
                    "rounds": [round(each, 5) for each in graph],
                    "eager_ms": round(statistics.median(eager), 5),
                    "eager_rounds": [round(each, 5) for each in eager],
                }
            except Exception as error:  # noqa: BLE001: a case that fails leaves the others alone
                times = {"failed": str(error)[:200]}
            print(json.dumps({"op": op, "case": case, **times}), flush=True)


if __name__ == "__main__":
    main()
