#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes data/reference.safetensors: token ids and embeddings of data/sentences.txt, by torch and transformers.

Needs torch, transformers and safetensors, which the demo does not. The result is committed; run this again only
when the sentences change.
"""

import argparse
from pathlib import Path

import safetensors.torch
import tokenizers
import torch
import transformers


def embed(model: torch.nn.Module, ids: list[int]) -> torch.Tensor:
    """Mean of the last hidden states over all tokens, at length 1. One sentence at a time: no padding, no mask."""
    hidden = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
    return torch.nn.functional.normalize(hidden.mean(dim=0), dim=0)


def main() -> None:
    here = Path(__file__).resolve().parent
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", type=Path, required=True, help="folder with model.safetensors and tokenizer.json")
    options.add_argument("--data", type=Path, default=here / "data", help="folder with sentences.txt")
    options = options.parse_args()

    torch.set_num_threads(1)
    tokenizer = tokenizers.Tokenizer.from_file(str(options.model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model = transformers.BertModel.from_pretrained(options.model, attn_implementation="eager").eval()
    tensors = {}
    with torch.inference_mode():
        for number, sentence in enumerate((options.data / "sentences.txt").read_text("utf-8").splitlines()):
            ids = tokenizer.encode(sentence).ids
            tensors[f"ids.{number}"] = torch.tensor(ids, dtype=torch.int64)
            tensors[f"embedding.{number}"] = embed(model, ids)
            print(f"{len(ids):4d} tokens: {sentence[:60]}")
    made_by = f"torch {torch.__version__}, transformers {transformers.__version__}, tokenizers {tokenizers.__version__}"
    safetensors.torch.save_file(tensors, options.data / "reference.safetensors", {"made_by": made_by})
    print(f"written by {made_by}")


main()
