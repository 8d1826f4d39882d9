"""The limit of a token of a Llama: a plain decoding step with random bf16 weights in PyTorch on the GPU of this machine.

    python3 torch_lm.py [--model llama-3.2-1b|tiny]

Prints JSON lines as torch_gpt.py does: the device, then the case of `pnpm bench lm` that does the same work. "ms" is the median of
rounds of calls that are recorded into a CUDA graph and replayed; each call is the same token at the same place.
"""

import argparse
import json
import statistics

from torch_rounds import graph_rounds, open_torch

# As in src/lm.ts.
MODELS = {
    "llama-3.2-1b": dict(width=2048, hidden=8192, layers=16, heads=32, kv_heads=8, vocab=128256, cached=1024),
    "tiny": dict(width=128, hidden=256, layers=2, heads=4, kv_heads=2, vocab=512, cached=32),
}


def make_step(torch, width, hidden, layers, heads, kv_heads, vocab, cached):
    functional = torch.nn.functional
    dim = width // heads

    def drawn(*shape):
        return ((torch.rand(*shape, device="cuda") - 0.5) * 0.07).to(torch.bfloat16)

    tokens, ones = drawn(vocab, width), torch.ones(width, device="cuda", dtype=torch.bfloat16)
    blocks = [
        dict(
            qkv=drawn(width + 2 * kv_heads * dim, width),
            merge=drawn(width, width),
            gate_up=drawn(2 * hidden, width),
            down=drawn(width, hidden),
            keys=drawn(1, kv_heads, cached + 1, dim),
            values=drawn(1, kv_heads, cached + 1, dim),
        )
        for _ in range(layers)
    ]
    angles = cached * 500_000.0 ** (-torch.arange(0, dim, 2, device="cuda") / dim)
    cos, sin = angles.cos().to(torch.bfloat16), angles.sin().to(torch.bfloat16)
    ids = torch.zeros(1, 1, dtype=torch.long, device="cuda")

    def norm(x):
        return functional.rms_norm(x, (width,), ones, 1e-5)

    def turned(x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def step():
        x = functional.embedding(ids, tokens)
        for block in blocks:
            rows = functional.linear(norm(x), block["qkv"]).view(1, 1, heads + 2 * kv_heads, dim).transpose(1, 2)
            q, k, v = rows.split((heads, kv_heads, kv_heads), 1)
            block["keys"][:, :, cached:] = turned(k)
            block["values"][:, :, cached:] = v
            attended = functional.scaled_dot_product_attention(turned(q), block["keys"], block["values"], enable_gqa=True)
            x = x + functional.linear(attended.reshape(1, 1, width), block["merge"])
            gate, up = functional.linear(norm(x), block["gate_up"]).chunk(2, -1)
            x = x + functional.linear(functional.silu(gate) * up, block["down"])
        ids.copy_(functional.linear(norm(x), tokens).argmax(-1))

    return step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=sorted(MODELS), default="llama-3.2-1b")
    model = parser.parse_args().model
    torch = open_torch()
    with torch.no_grad():
        rounds = graph_rounds(torch, make_step(torch, **MODELS[model]))
    name = f"{model} bf16 from {MODELS[model]['cached']} on"
    times = {"ms": round(statistics.median(rounds), 5), "rounds": [round(each, 5) for each in rounds]}
    print(json.dumps({"op": "lm_decode", "case": name, **times}), flush=True)


if __name__ == "__main__":
    main()
