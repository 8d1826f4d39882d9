"""GPT-2 in PyTorch, by the names of its published files, and a writer of safetensors. For train.py and reference.py."""
import json
import struct

import torch
import torch.nn.functional as F

DTYPES = {torch.float32: "F32", torch.float16: "F16", torch.int32: "I32"}


class Conv1D(torch.nn.Module):
    """GPT-2 stores its products' weights as [in, out]."""

    def __init__(self, from_, to):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(from_, to) * 0.02)
        self.bias = torch.nn.Parameter(torch.zeros(to))

    def forward(self, x):
        return x @ self.weight + self.bias


class Attention(torch.nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.c_attn, self.c_proj = Conv1D(width, 3 * width), Conv1D(width, width)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.c_attn(x).view(b, s, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout if self.training else 0.0)
        return self.c_proj(o.transpose(1, 2).reshape(b, s, d))


class Mlp(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.c_proj = Conv1D(width, 4 * width), Conv1D(4 * width, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(torch.nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.ln_1, self.ln_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attn, self.mlp = Attention(width, heads, dropout), Mlp(width)
        self.drop = torch.nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop(self.attn(self.ln_1(x)))
        return x + self.drop(self.mlp(self.ln_2(x)))


class Gpt2(torch.nn.Module):
    def __init__(self, config, dropout=0.0):
        super().__init__()
        width = config["n_embd"]
        self.wte = torch.nn.Embedding(config["vocab_size"], width)
        self.wpe = torch.nn.Embedding(config["n_positions"], width)
        torch.nn.init.normal_(self.wte.weight, std=0.02)
        torch.nn.init.normal_(self.wpe.weight, std=0.01)
        self.h = torch.nn.ModuleList(Block(width, config["n_head"], dropout) for _ in range(config["n_layer"]))
        self.ln_f = torch.nn.LayerNorm(width)
        self.drop = torch.nn.Dropout(dropout)

    def forward(self, ids):
        x = self.drop(self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device)))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.t()


def config_of(vocabulary, context, width, layers, heads, end):
    return {
        "model_type": "gpt2",
        "activation_function": "gelu_new",
        "vocab_size": vocabulary,
        "n_positions": context,
        "n_embd": width,
        "n_layer": layers,
        "n_head": heads,
        "layer_norm_epsilon": 1e-5,
        "eos_token_id": end,
    }


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.contiguous().cpu().numpy().tobytes())
