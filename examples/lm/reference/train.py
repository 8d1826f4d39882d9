"""Trains the model that comes with this example, on stories that `stories.py` makes up.

    python3 train.py FOLDER [STEPS]

Byte-level BPE of 1,024 tokens. Writes config.json, model.safetensors (float16), tokenizer.json, tokenizer_config.json. Needs
PyTorch with CUDA; takes one minute on one H200.
"""
import collections
import json
import math
import pathlib
import random
import re
import sys
import time

import torch
import torch.nn.functional as F

from gpt2_torch import Gpt2, config_of, write_safetensors
from stories import story

VOCABULARY, CONTEXT, STORIES = 1024, 256, 100_000
folder = pathlib.Path(sys.argv[1])
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
folder.mkdir(parents=True, exist_ok=True)
torch.manual_seed(1)
random.seed(1)


def byte_letters():
    """GPT-2's letter for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, more = {byte: chr(byte) for byte in plain}, 0
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(256 + more)
            more += 1
    return letters


LETTERS = byte_letters()
# GPT-2's pattern, in what Python's re has of it.
WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def train_bpe(text, merges_wanted):
    counts = collections.Counter(WORDS.findall(text))
    words = {word: [LETTERS[byte] for byte in word.encode()] for word in counts}
    pairs, having = collections.Counter(), collections.defaultdict(set)

    def count(word, sign):
        for pair in zip(words[word], words[word][1:]):
            pairs[pair] += sign * counts[word]
            if sign > 0:
                having[pair].add(word)

    for word in words:
        count(word, 1)
    merges = []
    while len(merges) < merges_wanted:
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        for word in having.pop(best):
            count(word, -1)
            words[word] = merged(words[word], best)
            count(word, 1)
    return merges, words


def merged(parts, pair):
    result, i = [], 0
    while i < len(parts):
        if tuple(parts[i : i + 2]) == pair:
            result.append(parts[i] + parts[i + 1])
            i += 2
        else:
            result.append(parts[i])
            i += 1
    return result


END = "<|endoftext|>"
pieces = [story() for _ in range(STORIES)]
merges, words = train_bpe(" ".join(pieces), VOCABULARY - 257)
vocabulary = {token: i for i, token in enumerate([*(LETTERS[b] for b in range(256)), *(a + b for a, b in merges), END])}
ids_of = {word: [vocabulary[token] for token in tokens] for word, tokens in words.items()}
encoded, begins = [], []
for piece in pieces:
    begins.append(len(encoded))
    for word in WORDS.findall(piece):
        encoded += ids_of.get(word) or [vocabulary[LETTERS[b]] for b in word.encode()]
    encoded.append(vocabulary[END])
data = torch.tensor(encoded, device="cuda")
begins = torch.tensor(begins[:-10], device="cuda")
cut = len(begins) * 98 // 100
print(json.dumps({"bytes": sum(len(p.encode()) for p in pieces), "tokens": len(data)}), flush=True)

config = config_of(VOCABULARY, CONTEXT, width=192, layers=4, heads=6, end=vocabulary[END])
model = Gpt2(config, dropout=0.0).cuda()
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() == 1]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=1e-3, betas=(0.9, 0.99))


def batch(begins, size=128):
    """Windows of text: half of them begin where a story does, as prompts do."""
    starts = begins[torch.randint(0, len(begins), (size,), device="cuda")]
    starts[: size // 2] += torch.randint(0, 100, (size // 2,), device="cuda")
    rows = data[starts[:, None] + torch.arange(CONTEXT + 1, device="cuda")]
    return rows[:, :-1], rows[:, 1:]


def loss_of(rows):
    ids, targets = rows
    with torch.autocast("cuda", torch.bfloat16):
        return F.cross_entropy(model(ids).flatten(0, 1).float(), targets.flatten())


started = time.time()
for step in range(steps + 1):
    rate = 1e-3 * min(1, (step + 1) / 100) * (0.05 + 0.95 * (1 + math.cos(math.pi * step / steps)) / 2)
    for group in optimizer.param_groups:
        group["lr"] = rate
    loss = loss_of(batch(begins[:cut]))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 500 == 0:
        model.eval()
        with torch.no_grad():
            held_out = sum(loss_of(batch(begins[cut:])).item() for _ in range(8)) / 8
        model.train()
        print(json.dumps({"step": step, "loss": round(loss.item(), 3), "held_out": round(held_out, 3), "s": round(time.time() - started)}), flush=True)

write_safetensors(folder / "model.safetensors", {name: value.half() for name, value in model.state_dict().items()})
(folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
tokenizer = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [{"id": vocabulary[END], "content": END, "single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": True}],
    "normalizer": None,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
    "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
    "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
    "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": False, "vocab": vocabulary, "merges": [f"{a} {b}" for a, b in merges]},
}
(folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n")
(folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer", "bos_token": END, "eos_token": END, "unk_token": END, "model_max_length": CONTEXT}, indent=2) + "\n")
