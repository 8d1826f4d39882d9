"""The vendor's limit: cuBLAS, cuDNN and PyTorch's kernels on the GPU of this machine, float32 without TF32.

    python3 torch_limits.py [--set gpu] [--only OP,...] [--case NAME] [--list] [--no-ceilings]

Prints JSON lines: one with the device and the versions, one with the ceilings of the roofline, and one per case of
cases.json, {"op", "case", "ms", "tflops" | "tbps"}. A figure is the median of 7 rounds of 20 ms or more of calls that
are recorded into a CUDA graph and replayed, so that launching from Python costs nothing. A case that fails has "failed"
in place of its times. --list prints the names of the cases and needs no PyTorch.
"""

import argparse
import json
from pathlib import Path

from torch_rounds import median_ms, open_torch


def name_of(case):
    """The name of a case, the same one as in src/limits."""
    op = case["op"]
    if op in ("gemm", "gemm_f16"):
        m, n, k = case["m"], case["n"], case["k"]
        name = f"{n}" if m == n == k else f"{m}x{n}x{k}"
        if "layout" in case:
            name += f" {case['layout']}"
        return name + (f" ld+{case['padding']}" if "padding" in case else "")
    if op == "batched_gemm":
        return "{batch}x{m}x{n}x{k}".format(**case)
    if op == "conv2d":
        return "n{n}c{c}hw{hw}k{k}f{f}s{stride}p{padding}".format(**case)
    if op in ("attention", "attention_f16"):
        return "b{batch}h{heads}q{seqQ}k{seqKv}d{headDim}".format(**case) + ("c" if case["causal"] else "")
    if op.startswith("reduce_"):
        return "x".join(map(str, case["shape"])) + f"@{case['axis']}"
    if "columns" in case:
        return f"{case['rows']}x{case['columns']}"
    return str(case["n"])


def bind(case, torch):
    """A call without arguments that does the work, and what its speed is told by: operations, bytes."""
    op = case["op"]

    def noise(*shape, dtype=torch.float32):
        return (torch.rand(*shape, device="cuda") - 0.5).to(dtype)

    if op in ("gemm", "gemm_f16"):
        m, n, k = case["m"], case["n"], case["k"]
        dtype = torch.float16 if op == "gemm_f16" else torch.float32
        layout, padding = case.get("layout", "NN"), case.get("padding", 0)

        def operand(rows, columns, letter):
            stored = (columns, rows) if letter == "T" else (rows, columns)
            matrix = noise(stored[0], stored[1] + padding, dtype=dtype)[:, : stored[1]]
            return matrix.t() if letter == "T" else matrix

        a, b = operand(m, k, layout[0]), operand(k, n, layout[1])
        return (lambda: a @ b), 2 * m * n * k, None
    if op == "batched_gemm":
        batch, m, n, k = case["batch"], case["m"], case["n"], case["k"]
        a, b = noise(batch, m, k), noise(batch, k, n)
        return (lambda: torch.bmm(a, b)), 2 * batch * m * n * k, None
    if op == "conv2d":
        n, c, hw, k, f = case["n"], case["c"], case["hw"], case["k"], case["f"]
        stride, padding = case["stride"], case["padding"]
        images, filters = noise(n, c, hw, hw), noise(k, c, f, f)
        out = (hw + 2 * padding - f) // stride + 1
        conv2d = torch.nn.functional.conv2d
        return (lambda: conv2d(images, filters, stride=stride, padding=padding)), 2 * n * k * out * out * c * f * f, None
    if op in ("attention", "attention_f16"):
        batch, heads, head_dim, causal = case["batch"], case["heads"], case["headDim"], case["causal"]
        seq_q, seq_kv = case["seqQ"], case["seqKv"]
        dtype = torch.float16 if op == "attention_f16" else torch.float32
        q, k, v = (noise(batch, heads, seq, head_dim, dtype=dtype) for seq in (seq_q, seq_kv, seq_kv))
        attend = torch.nn.functional.scaled_dot_product_attention
        seen = seq_q * (seq_q + 1) // 2 if causal else seq_q * seq_kv
        return (lambda: attend(q, k, v, is_causal=causal)), 4 * batch * heads * seen * head_dim, None
    if op.startswith("reduce_"):
        x, axis = noise(*case["shape"]), case["axis"]
        fold = torch.sum if op == "reduce_sum" else torch.amax
        return (lambda: fold(x, dim=axis)), None, 4 * (x.numel() + x.numel() // x.shape[axis])
    if "columns" in case:
        x, a, b = noise(case["rows"], case["columns"]), noise(case["columns"]), noise(case["columns"])
        functional = torch.nn.functional
        calls = {
            "softmax": lambda: functional.softmax(x, dim=1),
            "layer_norm": lambda: functional.layer_norm(x, (case["columns"],), a, b),
            "bias_gelu": lambda: functional.gelu(x + a),
        }
        vectors = {"softmax": 0, "layer_norm": 2, "bias_gelu": 1}[op]
        return calls[op], None, 8 * x.numel() + vectors * 4 * case["columns"]
    x, out = noise(case["n"]), torch.empty(case["n"], device="cuda")
    if op == "binary_add":
        y = noise(case["n"])
        return (lambda: torch.add(x, y, out=out)), None, 12 * x.numel()
    if op == "copy":
        return (lambda: out.copy_(x)), None, 8 * x.numel()
    if op == "unary_relu":
        return (lambda: torch.clamp(x, min=0, out=out)), None, 8 * x.numel()
    function = getattr(torch, op.removeprefix("unary_"))
    return (lambda: function(x, out=out)), None, 8 * x.numel()


def line_of(case, torch):
    line = {"op": case["op"], "case": name_of(case)}
    try:
        call, flop, byte = bind(case, torch)
        ms = median_ms(torch, call)
    except RuntimeError as error:
        return {**line, "failed": str(error).splitlines()[0]}
    speed = {"tflops": round(flop / ms / 1e9, 3)} if flop else {"tbps": round(byte / ms / 1e9, 3)}
    return {**line, "ms": round(ms, 5), **speed}


def ceilings(torch):
    """What bounds every kernel: the speed of the memory and that of the largest float32 product."""
    x, y, z = (torch.rand(1 << 28, device="cuda") for _ in range(3))
    # A copy may go through a copy engine, which is slower than a kernel.
    copy = 2 * x.nbytes / median_ms(torch, lambda: z.copy_(x))
    add = 3 * x.nbytes / median_ms(torch, lambda: torch.add(x, y, out=z))
    del x, y, z
    n = 8192
    a, b = (torch.rand(n, n, device="cuda") - 0.5 for _ in range(2))
    product = median_ms(torch, lambda: a @ b)
    return {
        "tflops": round(2 * n**3 / product / 1e9, 2),
        "tbps": round(max(copy, add) / 1e9, 3),
        "source": f"measured: a float32 product of {n}, the faster of a copy and a sum of arrays of 1 GiB",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="gpu", help="a set of cases.json")
    parser.add_argument("--only", help="ops, separated by commas")
    parser.add_argument("--case", help="the name of a case")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--no-ceilings", action="store_true", help="leave out the ceilings")
    options = parser.parse_args()
    sets = json.loads(Path(__file__).with_name("cases.json").read_text())
    if options.set not in sets:
        parser.error(f"there is no set {options.set}, only {', '.join(sets)}")
    only = options.only.split(",") if options.only else None
    cases = [case for case in sets[options.set] if only is None or case["op"] in only]
    cases = [case for case in cases if options.case in (None, name_of(case))]
    if options.list:
        for case in cases:
            print(case["op"], name_of(case))
        return

    torch = open_torch()
    if not options.no_ceilings:
        print(json.dumps({"ceilings": ceilings(torch)}), flush=True)
    for case in cases:
        print(json.dumps(line_of(case, torch)), flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
