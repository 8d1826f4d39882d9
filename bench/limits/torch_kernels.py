"""The limits of fused kernels: PyTorch's own kernels, eager and compiled, on the GPU of this machine.

    python3 torch_kernels.py

Prints JSON lines: one with the device and the versions, and one per case of `pnpm bench kernels`, {"op", "case", "ms",
"compiled_ms"?}. A figure is the median of 7 rounds of 20 ms or more of calls that are recorded into a CUDA graph and
replayed. A case that fails has "failed" in place of its times.
"""

import json

from torch_rounds import median_ms, open_torch


def cases(torch):
    """(op, case, call, whether it is compiled too), each made when it is its turn."""
    functional = torch.nn.functional

    def noise(*shape):
        return torch.rand(*shape, device="cuda") - 0.5

    n = 1 << 27
    x = noise(n)
    yield "unary_exp", f"{n}", lambda: torch.exp(x), False
    yield "unary_tanh", f"{n}", lambda: torch.tanh(x), False
    y = noise(n)
    yield "binary_add", f"{n}", lambda: x + y, False
    half = x.half()
    yield "cast_f32_f16", f"{n}", lambda: x.half(), False
    yield "cast_f16_f32", f"{n}", lambda: half.float(), False
    yield "add_f16", f"{n}", lambda: half + half, False
    del x, y, half
    for name, fold in (("reduce_sum", torch.sum), ("reduce_max", torch.amax)):
        for shape, axis in (((1 << 26,), 0), ((8192, 8192), 1), ((8192, 8192), 0), ((64, 256, 56, 56), 1), ((1 << 22, 8), 1)):
            x = noise(*shape)
            yield name, f"{'x'.join(map(str, shape))} axis {axis}", lambda: fold(x, dim=axis), False
    for rows, columns in ((8192, 8192), (98304, 1024), (262144, 128), (3000, 32768), (2000, 50257), (98304, 1023), (1, 1 << 24)):
        x = noise(rows, columns)
        yield "softmax", f"{rows}x{columns}", lambda: functional.softmax(x, -1), rows == 8192
    x = noise(1024, 98304)
    yield "softmax_axis0", "1024x98304", lambda: functional.softmax(x, 0), True
    for rows, columns in ((8192, 768), (65536, 1024), (8192, 8192)):
        x, g, b = noise(rows, columns), noise(columns), noise(columns)
        yield "layer_norm", f"{rows}x{columns}", lambda: functional.layer_norm(x, (columns,), g, b), True
        yield "rms_norm", f"{rows}x{columns}", lambda: functional.rms_norm(x, (columns,), g), True
    x = noise(8192, 8192)
    yield "transpose", "8192x8192", lambda: x.t().contiguous(), False
    for shape in ((8, 1024, 12, 64), (64, 1024, 16, 64)):
        x = noise(*shape)
        yield "permute_0213", "x".join(map(str, shape)), lambda: x.permute(0, 2, 1, 3).contiguous(), False
    table, index = noise(50257, 768), torch.randint(0, 50257, (65536,), device="cuda")
    yield "gather_rows", "50257x768,65536", lambda: functional.embedding(index, table), False
    x, b, r = noise(32768, 3072), noise(3072), noise(32768, 3072)
    yield "bias_gelu", "32768x3072", lambda: functional.gelu(x + b), True
    yield "bias_relu_residual", "32768x3072", lambda: functional.relu(x + b) + r, True
    x = noise(4096, 50257)
    yield "argmax", "4096x50257", lambda: x.argmax(-1), False
    yield "cross_entropy_rows", "4096x50257", lambda: functional.log_softmax(x, -1)[:, 0].contiguous(), True
    image, s, t = noise(16, 64, 112, 112), noise(64), noise(64)
    name = "n16c64hw112"
    yield "max_pool_3x3s2p1", name, lambda: functional.max_pool2d(image, 3, 2, 1), False
    yield "global_avg_pool", name, lambda: image.mean((2, 3)), False
    yield "upsample_bilinear_2x", name, lambda: functional.interpolate(image, scale_factor=2, mode="bilinear"), False
    scale, shift = s[None, :, None, None], t[None, :, None, None]
    yield "batch_norm_relu", name, lambda: functional.relu(image * scale + shift), True
    x, w, b = noise(8192, 768), noise(3072, 768), noise(3072)
    yield "gemm_bias_gelu", "8192x3072x768", lambda: functional.gelu(functional.linear(x, w, b)), False


def line_of(torch, op, case, call, compiled):
    line = {"op": op, "case": case}
    try:
        line["ms"] = round(median_ms(torch, call), 5)
        if compiled:
            line["compiled_ms"] = round(median_ms(torch, torch.compile(call)), 5)
    except RuntimeError as error:
        return {**line, "failed": str(error).splitlines()[0]}
    return line


def main():
    torch = open_torch()
    for case in cases(torch):
        print(json.dumps(line_of(torch, *case)), flush=True)


if __name__ == "__main__":
    main()
