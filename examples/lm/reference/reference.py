"""The results of PyTorch for a tiny GPT-2 with random weights: writes model.safetensors, config.json and reference.safetensors.

    python3 reference.py FOLDER

reference.safetensors holds `tokens`, a prompt of 8 and the 64 that follow it by the most likely each, and `logits`,
float32 [64, vocabulary], of the step before each of those.
"""
import json
import pathlib
import sys

import torch

from gpt2_torch import Gpt2, config_of, write_safetensors

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
config = config_of(vocabulary=96, context=80, width=32, layers=3, heads=4, end=0)

best = None
for seed in range(40):
    torch.manual_seed(seed)
    model = Gpt2(config).eval()
    with torch.no_grad():
        # Larger than at the start of a training, so that every part of the model shows in the logits.
        for name, value in model.named_parameters():
            if "ln_" in name:
                value.add_(torch.randn_like(value) * 0.3)
            else:
                value.copy_(torch.randn_like(value) * (0.6 if value.dim() == 1 else 0.35))
        ids, rows = torch.randint(0, 96, (1, 8)), []
        for _ in range(64):
            logits = model(ids)[0, -1]
            rows.append(logits)
            ids = torch.cat([ids, logits.argmax().view(1, 1)], 1)
    logits = torch.stack(rows)
    top = logits.topk(2, -1).values
    gap = ((top[:, 0] - top[:, 1]) / logits.abs().max()).min().item()
    kinds = len(set(ids[0, 8:].tolist()))
    # The choice must not hang on the last bits of a sum, and not be the same one always.
    if kinds >= 12 and (best is None or gap > best[0]):
        best = (gap, kinds, seed, model, ids, logits)

gap, kinds, seed, model, ids, logits = best
write_safetensors(folder / "model.safetensors", model.state_dict())
write_safetensors(folder / "reference.safetensors", {"tokens": ids[0].to(torch.int32), "logits": logits})
(folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
print(json.dumps({"torch": torch.__version__, "seed": seed, "least_gap": gap, "tokens": kinds}))
