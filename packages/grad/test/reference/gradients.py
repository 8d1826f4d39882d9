"""Gradients as PyTorch computes them in float64: writes reference.json, which the tests compare with.

    python3 gradients.py > reference.json
"""
import json
import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
generator = torch.Generator().manual_seed(7)


def draw(*shape, low=-1.5, high=1.5):
    return torch.round((torch.rand(*shape, generator=generator) * (high - low) + low) * 1024) / 1024


def gradients(f, xs):
    xs = {name: x.clone().requires_grad_(True) for name, x in xs.items()}
    y = f(**xs)
    factors = torch.cos(torch.arange(y.numel())).reshape(y.shape)
    (y * factors).sum().backward()
    return {name: {"shape": list(x.shape), "value": x.flatten().tolist(), "gradient": x.grad.flatten().tolist()} for name, x in xs.items()}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


positive = dict(low=0.25, high=2)
index = torch.tensor([2, 0, 2])
targets = torch.tensor([1, 3, 0])
one = {
    "abs": torch.abs, "neg": torch.neg, "sqrt": (torch.sqrt, positive), "rsqrt": (torch.rsqrt, positive), "reciprocal": (torch.reciprocal, positive),
    "square": torch.square, "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "log": (torch.log, positive),
    "log2": (torch.log2, positive), "log1p": (torch.log1p, positive), "sin": torch.sin, "cos": torch.cos, "atan": torch.atan, "erf": torch.erf,
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "silu": F.silu, "softplus": F.softplus, "gelu": F.gelu, "relu": F.relu, "elu": F.elu,
    "sum": torch.sum, "mean": torch.mean, "prod": torch.prod, "max": torch.amax, "min": torch.amin, "std": torch.std, "variance": torch.var,
    "norm": torch.linalg.vector_norm, "softmax": lambda x: F.softmax(x, -1), "logSoftmax": lambda x: F.log_softmax(x, -1),
    "logSumExp": lambda x: torch.logsumexp(x, (0, 1)), "cumsum": lambda x: torch.cumsum(x, -1), "cumprod": lambda x: torch.cumprod(x, -1),
    "l2Normalize": lambda x: F.normalize(x, dim=-1), "layerNorm": lambda x: F.layer_norm(x, (4,)), "rmsNorm": lambda x: F.rms_norm(x, (4,), eps=1e-5),
    "triu": torch.triu, "tril": torch.tril, "transpose": lambda x: x.T, "sort": lambda x: torch.sort(x)[0],
}
two = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": (torch.div, positive), "pow": (torch.pow, positive),
    "atan2": torch.atan2, "maximum": torch.maximum, "minimum": torch.minimum,
}
special = {
    "gather": (lambda x: x[index], dict(x=draw(3, 4))),
    "crossEntropy": (lambda x: F.cross_entropy(x, targets), dict(x=draw(3, 4))),
    "matmul": (torch.matmul, dict(input=draw(3, 4), other=draw(4, 2))),
    "linear": (F.linear, dict(input=draw(3, 4), weight=draw(2, 4), bias=draw(2))),
    "conv2d": (lambda **xs: F.conv2d(**xs, stride=2, padding=1), dict(input=draw(1, 2, 5, 4), weight=draw(3, 2, 3, 3), bias=draw(3))),
    "conv2d groups": (lambda **xs: F.conv2d(**xs, groups=2, dilation=2), dict(input=draw(1, 4, 5, 4), weight=draw(4, 2, 2, 2), bias=draw(4))),
    "convTranspose2d": (lambda **xs: F.conv_transpose2d(**xs, stride=2, padding=1, output_padding=1), dict(input=draw(1, 2, 3, 2), weight=draw(2, 3, 3, 3))),
    "maxPool": (lambda x: F.max_pool2d(x, 3, stride=1), dict(x=draw(1, 1, 4, 5))),
    "avgPool": (lambda x: F.avg_pool2d(x, 2, padding=1), dict(x=draw(1, 1, 4, 5))),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), {name: draw(1, 2, 4, 3) for name in "qkv"}),
}


def transformer(x, qkv, out, up, down, norm1, norm2):
    n, d = x.shape
    q, k, v = F.linear(F.rms_norm(x, (d,), norm1, eps=1e-5), qkv).reshape(n, 3, 2, d // 2).permute(1, 2, 0, 3)
    heads = F.scaled_dot_product_attention(q, k, v, is_causal=True).permute(1, 0, 2).reshape(n, d)
    x = x + F.linear(heads, out)
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, (d,), norm2), up), approximate="tanh"), down)


def resnet(x, w1, w2, short, g1, b1, g2, b2):
    def normalized(y, weight, bias):
        return F.batch_norm(y, None, None, weight, bias, training=True)

    y = F.relu(normalized(F.conv2d(x, w1, stride=2, padding=1), g1, b1))
    return F.relu(normalized(F.conv2d(y, w2, padding=1), g2, b2) + F.conv2d(x, short, stride=2))


cases = {}
for name, f in one.items():
    f, options = f if isinstance(f, tuple) else (f, {})
    cases[name] = gradients(lambda x: f(x), dict(x=draw(3, 4, **options)))
for name, f in two.items():
    f, options = f if isinstance(f, tuple) else (f, {})
    cases[name] = gradients(lambda a, b: f(a, b), dict(a=draw(3, 4, **options), b=draw(1, 4, **options)))
for name, (f, xs) in special.items():
    cases[name] = gradients(f, xs)
d = 8
cases["transformer block"] = gradients(transformer, dict(
    x=draw(5, d), qkv=draw(3 * d, d) / 2, out=draw(d, d) / 2, up=draw(2 * d, d) / 2, down=draw(d, 2 * d) / 2, norm1=draw(d), norm2=draw(d)))
cases["residual block"] = gradients(resnet, dict(
    x=draw(2, 3, 6, 6), w1=draw(4, 3, 3, 3), w2=draw(4, 4, 3, 3), short=draw(4, 3, 1, 1), g1=draw(4), b1=draw(4), g2=draw(4), b2=draw(4)))
assert all(math.isfinite(each) for case in cases.values() for x in case.values() for each in x["gradient"])
lines = [f"  {json.dumps(name)}: {json.dumps(rounded(case))}" for name, case in cases.items()]
print("{\n" + ",\n".join([f'  "torch": "{torch.__version__}"', *lines]) + "\n}")
