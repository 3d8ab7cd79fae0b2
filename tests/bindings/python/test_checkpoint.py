# SPDX-License-Identifier: Apache-2.0
import gc
import json
import struct

import hoist
import numpy as np
import pytest


@pytest.fixture
def path(tmp_path):
    header = json.dumps({"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                         "b.weight": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
                         "empty": {"dtype": "I8", "shape": [0], "data_offsets": [32, 32]}}).encode()
    file = tmp_path / "größe.safetensors"
    file.write_bytes(struct.pack("<Q", len(header)) + header + np.arange(6, dtype="<f4").tobytes() + bytes(range(8)))
    return file


def test_tensors_have_facts_and_bytes(path):
    checkpoint = hoist.Checkpoint(path)
    assert len(checkpoint) == 3
    a, b = checkpoint[checkpoint.index("a")], checkpoint[checkpoint.index("b.weight")]
    assert (a.name, a.dtype, a.shape, a.bytes, a.item_bits) == ("a", "F32", (2, 3), 24, 32)
    assert (b.dtype, b.shape, b.file) == ("BF16", (4,), str(path))
    assert {tensor.name for tensor in checkpoint} == {"a", "b.weight", "empty"}
    assert (np.frombuffer(a, "<f4").reshape(a.shape) == [[0, 1, 2], [3, 4, 5]]).all()
    assert len(memoryview(checkpoint[checkpoint.index("empty")])) == 0


def test_bytes_keep_the_file_mapped_and_are_read_only(path):
    array = np.frombuffer(hoist.Checkpoint(path)[1], np.uint8)
    gc.collect()
    path.unlink()
    assert array.tolist() == list(range(8))
    assert not array.flags.writeable


def test_a_tensor_can_be_the_source_of_one_to_stream(path):
    device = hoist.Device("host:0?mode=inline")
    manager = hoist.Manager(device, None)
    tensor = manager.add_copied(manager.add_unit("u"), "a", hoist.Checkpoint(path)[0])
    manager.commit()
    assert (manager.read(tensor).view("<f4") == np.arange(6)).all()


def test_errors_are_typed(path):
    checkpoint = hoist.Checkpoint(path)
    with pytest.raises(hoist.NotFoundError, match="b.weight"):
        checkpoint.index("b.weigth")
    with pytest.raises(IndexError):
        checkpoint[3]
    with pytest.raises(hoist.NotFoundError):
        hoist.Checkpoint(path.with_name("none.safetensors"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(hoist.CorruptError):
        hoist.Checkpoint(path)
