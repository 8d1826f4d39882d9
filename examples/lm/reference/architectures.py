"""What Transformers says of tiny models with random weights, one for each kind: writes config.json, model.safetensors and
reference.safetensors to a folder for each.

    python3 architectures.py FOLDER

reference.safetensors holds `tokens`, int32 [24], and `logits`, float32 [17, vocabulary], of what follows each from the eighth on.
"""
import json
import pathlib
import sys

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

from gpt2_torch import write_safetensors

SIZES = dict(
    vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
    max_position_embeddings=64, rope_theta=10000.0, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False,
)
KINDS = {
    "llama": dict(model_type="llama", num_key_value_heads=2, rope_scaling=dict(
        rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)),
    "llama-yarn": dict(model_type="llama", num_key_value_heads=4, tie_word_embeddings=True, rope_scaling=dict(
        rope_type="yarn", factor=4.0, original_max_position_embeddings=16)),
    "mistral": dict(model_type="mistral", num_key_value_heads=1, sliding_window=6, head_dim=16, rope_scaling=dict(
        rope_type="linear", factor=2.0)),
    "qwen2": dict(model_type="qwen2", num_key_value_heads=2, tie_word_embeddings=True),
    "qwen3": dict(model_type="qwen3", num_key_value_heads=2, head_dim=16),
    "gemma2": dict(model_type="gemma2", num_key_value_heads=2, head_dim=16, sliding_window=6, query_pre_attn_scalar=24,
        attn_logit_softcapping=3.0, final_logit_softcapping=5.0, tie_word_embeddings=True),
    "gemma3": dict(model_type="gemma3_text", num_key_value_heads=2, head_dim=16, sliding_window=6, query_pre_attn_scalar=24,
        num_hidden_layers=3, sliding_window_pattern=3, rope_local_base_freq=100.0, tie_word_embeddings=True, rope_scaling=dict(
        rope_type="linear", factor=2.0)),
}

for name, own in KINDS.items():
    folder = pathlib.Path(sys.argv[1]) / name
    folder.mkdir(parents=True, exist_ok=True)
    fields = {**SIZES, **own}
    config = AutoConfig.for_model(**{"model_type": fields.pop("model_type"), **fields})
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    with torch.no_grad():
        # Larger than at the start of a training, so that every part of the model shows in the logits.
        for key, value in model.named_parameters():
            noise = torch.randn_like(value)
            value.copy_(1 + 0.3 * noise if "norm" in key else noise * (0.5 if value.dim() == 1 else 0.3))
        ids = torch.randint(3, 96, (1, 24))
        logits = model(ids).logits[0, 7:]
    state = {key: value for key, value in model.state_dict().items() if key != "lm_head.weight" or not config.tie_word_embeddings}
    write_safetensors(folder / "model.safetensors", state)
    write_safetensors(folder / "reference.safetensors", {"tokens": ids[0].to(torch.int32), "logits": logits})
    (folder / "config.json").write_text(json.dumps({**SIZES, **own}, indent=2) + "\n")
    print(json.dumps({"kind": name, "torch": torch.__version__, "transformers": transformers.__version__}))
