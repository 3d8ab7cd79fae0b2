# SPDX-License-Identifier: Apache-2.0
"""The example that streams a language model, on the host device with its small config."""

import json
import runpy
import sys
from pathlib import Path

import safetensors.torch
import torch
import transformers

PYTHON = Path(__file__).resolve().parents[2] / "examples/python"


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["stream_llm.py", "--device", "host:0", *map(str, arguments)])
    try:
        runpy.run_path(str(PYTHON / "stream_llm.py"), run_name="__main__")
    except SystemExit as end:
        return end.code, capsys.readouterr().out
    raise AssertionError("the example ends by its exit code")


def test_a_config_is_streamed_and_traced(monkeypatch, capsys, tmp_path):
    code, out = run(monkeypatch, capsys, "--model", PYTHON / "tiny_decoder.json", "--tokens", 6, "--prompt-tokens", 12, "--attention", "eager",
                    "--trace", tmp_path / "trace.json")
    assert code == 0 and "6 tokens and their logits: equal to the bit" in out
    assert "streamed, 50%" in out and " 0.000 GB moved a step" not in out
    assert any("layers" in str(event) for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"])


def test_a_folder_is_mapped(monkeypatch, capsys, tmp_path):
    """Tied embeddings are in it once; the weights are the file's, not random ones."""
    config = transformers.AutoConfig.from_pretrained(PYTHON / "tiny_decoder.json", num_hidden_layers=2)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    model.save_pretrained(tmp_path)
    assert "lm_head.weight" not in safetensors.torch.load_file(tmp_path / "model.safetensors")
    code, out = run(monkeypatch, capsys, "--model", tmp_path, "--budget", "70%", "--tokens", 4, "--prompt-tokens", 8)
    assert code == 0 and "equal to the bit" in out
    space = runpy.run_path(str(PYTHON / "stream_llm.py"))
    loaded = space["make"](str(tmp_path), "cpu")
    ids = torch.arange(8)[None]
    with torch.no_grad():
        assert torch.equal(loaded(ids).logits, model(ids).logits)


def test_the_quick_start_of_the_manual(monkeypatch, capsys, tmp_path):
    config = transformers.AutoConfig.from_pretrained(PYTHON / "tiny_decoder.json", num_hidden_layers=3)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path / "checkpoint")
    monkeypatch.chdir(tmp_path)
    space = runpy.run_path(str(Path(__file__).parent / "quick_start.py"))
    out = capsys.readouterr().out
    assert "SERVING" in out and " 0 moved in a step" not in out and "replan: done, the same tokens: True" in out
    plain = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "checkpoint").eval()
    with torch.no_grad():
        assert torch.equal(space["model"](space["ids"]).logits, plain(space["ids"]).logits)
