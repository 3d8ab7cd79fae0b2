// SPDX-License-Identifier: Apache-2.0
//! Checkpoints: safetensors files, single or sharded.

use crate::error::{c_string, check};
use crate::handle::owner;
use crate::manager::c_path;
use crate::Result;
use hoist_sys as sys;
use std::ffi::{c_char, CStr};
use std::path::Path;
use std::sync::Arc;

owner! {
    /// An open checkpoint: headers parsed and checked, bytes mapped read-only. The files must not be changed
    /// while it is open.
    Checkpoint, hoist_checkpoint_t, hoist_checkpoint_close
}
// SAFETY: all calls but close are @threadsafe, and close takes it exclusively.
unsafe impl Send for Checkpoint {}
unsafe impl Sync for Checkpoint {}

/// A tensor of a checkpoint.
#[derive(Debug, Clone, Copy)]
pub struct CheckpointTensor<'c> {
    /// Its name.
    pub name: &'c str,
    /// As in the file: "F32", "BF16", ...
    pub dtype: &'c str,
    /// The file that holds it.
    pub file: &'c str,
    /// Its bytes, little-endian.
    pub data: &'c [u8],
    /// Of its bytes in the file.
    pub offset: u64,
    /// Bits of one element.
    pub item_bits: u32,
    rank: usize,
    shape: [u64; sys::HOIST_CHECKPOINT_RANK_MAX as usize],
}

impl CheckpointTensor<'_> {
    /// Its dimensions.
    pub fn shape(&self) -> &[u64] {
        &self.shape[..self.rank]
    }
}

/// # Safety
/// `text` lives as long as the checkpoint `of`.
unsafe fn borrowed(_of: &Checkpoint, text: *const c_char) -> &str {
    // SAFETY: as the caller promised; headers are UTF-8.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

impl Checkpoint {
    /// Opens MODEL.safetensors, or MODEL.safetensors.index.json with all its shards.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the path is read during the call only.
        Self::make(|out| unsafe { sys::hoist_checkpoint_open(path.as_ptr(), out) })
    }

    /// How many tensors it has.
    pub fn count(&self) -> Result<u64> {
        let mut count = 0;
        // SAFETY: the place is valid.
        check(unsafe { sys::hoist_checkpoint_get_count(self.as_ptr(), &mut count) })?;
        Ok(count)
    }

    /// Finds a tensor by name.
    pub fn index(&self, name: &str) -> Result<u64> {
        let (name, mut index) = (c_string(name)?, 0);
        // SAFETY: the name is read during the call only.
        check(unsafe { sys::hoist_checkpoint_get_tensor(self.as_ptr(), name.as_ptr(), &mut index) })?;
        Ok(index)
    }

    /// The tensor at an index, in the order of file and offset.
    pub fn tensor(&self, index: u64) -> Result<CheckpointTensor<'_>> {
        let struct_size = std::mem::size_of::<sys::hoist_checkpoint_tensor_t>();
        let mut raw = sys::hoist_checkpoint_tensor_t { struct_size, ..Default::default() };
        // SAFETY: the struct's size is set; strings and bytes live as long as the checkpoint.
        unsafe {
            check(sys::hoist_checkpoint_query_tensor(self.as_ptr(), index, &mut raw))?;
            let data: &[u8] = match raw.data.is_null() {
                true => &[],
                false => std::slice::from_raw_parts(raw.data.cast(), raw.bytes as usize),
            };
            Ok(CheckpointTensor {
                name: borrowed(self, raw.name),
                dtype: borrowed(self, raw.dtype),
                file: borrowed(self, raw.file),
                data,
                offset: raw.offset,
                item_bits: raw.item_bits,
                rank: raw.rank as usize,
                shape: raw.shape,
            })
        }
    }

    /// A tensor's bytes that keep the checkpoint open: a source for [`crate::Source::copy`].
    pub fn bytes(self: &Arc<Self>, index: u64) -> Result<TensorBytes> {
        self.tensor(index)?;
        Ok(TensorBytes { checkpoint: Arc::clone(self), index })
    }
}

/// Bytes of a tensor of a checkpoint, which they keep open.
pub struct TensorBytes {
    checkpoint: Arc<Checkpoint>,
    index: u64,
}

impl AsRef<[u8]> for TensorBytes {
    fn as_ref(&self) -> &[u8] {
        self.checkpoint.tensor(self.index).map_or(&[], |tensor| tensor.data)
    }
}
