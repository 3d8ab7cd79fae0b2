// SPDX-License-Identifier: Apache-2.0
//! The manager: units of compute, their tensors.

use crate::error::{c_string, check};
use crate::{Budget, BudgetStatus, Device, Result, Step, Stream};
use hoist_sys as sys;
use std::ffi::{c_void, CStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a tensor is, for people.
pub use hoist_sys::hoist_tensor_class_t as TensorClass;
/// What a unit does with a tensor.
pub use hoist_sys::hoist_use_mode_t as UseMode;
/// Times of one unit in µs, over the steps that were kept.
pub use hoist_sys::hoist_unit_timing_t as UnitTiming;

/// A unit of a manager, from 0 in the order of adding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitId(pub u32);

/// A tensor of a manager, from 0 in the order of adding; aliases share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub u32);

/// Where a tensor's host bytes come from.
pub enum Source {
    /// Packed into pinned memory at commit, then dropped: see [`Source::copy`].
    Copy(Box<dyn AsRef<[u8]> + Send>),
    /// Registered where they are; the manager owns them until its end, and stores write into them.
    Adopt(Box<[u8]>),
    /// So many bytes without a host copy, which do not exist before their first use in a step.
    Transient(u64),
    /// So many zeros.
    Zero(u64),
}

impl Source {
    /// Bytes to be copied at commit: a `Vec<u8>`, a [`crate::TensorBytes`] of a checkpoint, ...
    pub fn copy(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        Self::Copy(Box::new(bytes))
    }
}

/// Facts about a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorInfo<'m> {
    /// Its first name.
    pub name: &'m str,
    /// Its size.
    pub bytes: u64,
    /// The host copy, or null; stores may write into it at any time.
    pub host: *const c_void,
    /// Grows with every write and update.
    pub version: u64,
    /// Whether a device copy is there or on its way.
    pub on_device: bool,
    /// Whether the host copy is complete and not older than the device's.
    pub host_current: bool,
    /// One of `hoist_sys::hoist_tensor_flags_t`.
    pub flags: u32,
    /// As added.
    pub tensor_class: TensorClass,
}

/// Units and tensors that move under one budget.
pub struct Manager {
    handle: *mut sys::hoist_manager_t,
    adopted: Vec<*mut [u8]>, // not as boxes: the library writes into them
    pub(crate) host_addressable: bool,
}
// SAFETY: @externsync calls may come from any thread, one at a time; sources are Send.
unsafe impl Send for Manager {}

type Boxed = Box<dyn AsRef<[u8]> + Send>;

unsafe extern "C" fn release(user_data: *mut c_void) {
    // SAFETY: add_tensor made it of a boxed Boxed, and release is called once.
    drop(unsafe { Box::from_raw(user_data.cast::<Boxed>()) });
}

impl Manager {
    /// Creates a manager that joins a budget; None: one of its own with the device's defaults.
    pub fn new(device: &Device, budget: Option<&Budget>) -> Result<Self> {
        let struct_size = std::mem::size_of::<sys::hoist_manager_options_t>();
        let mut options = sys::hoist_manager_options_t { struct_size, ..Default::default() };
        // SAFETY: the struct's size is set.
        check(unsafe { sys::hoist_manager_options_init(&mut options) })?;
        options.budget = budget.map_or(std::ptr::null_mut(), Budget::as_ptr);
        let host_addressable = device.query()?.is_host_addressable();
        let mut handle = std::ptr::null_mut();
        // SAFETY: the options are read during the call only.
        check(unsafe { sys::hoist_manager_create(device.as_ptr(), &options, &mut handle) })?;
        Ok(Self { handle, adopted: Vec::new(), host_addressable })
    }

    /// The C handle; it stays this object's.
    pub fn as_ptr(&self) -> *mut sys::hoist_manager_t {
        self.handle
    }

    /// Adds a unit; an empty one is fine.
    pub fn add_unit(&mut self, name: &str) -> Result<UnitId> {
        let (name, mut unit) = (c_string(name)?, 0);
        // SAFETY: the name is copied.
        check(unsafe { sys::hoist_manager_add_unit(self.handle, name.as_ptr(), &mut unit) })?;
        Ok(UnitId(unit))
    }

    /// Says how much device memory of the user's own a unit needs beside its tensors.
    pub fn set_workspace(&mut self, unit: UnitId, bytes: u64) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_manager_set_workspace(self.handle, unit.0, bytes) })
    }

    /// Adds a tensor, used by `unit`.
    pub fn add_tensor(
        &mut self,
        unit: UnitId,
        name: &str,
        source: Source,
        mode: UseMode,
        tensor_class: TensorClass,
    ) -> Result<TensorId> {
        let name = c_string(name)?;
        let struct_size = std::mem::size_of::<sys::hoist_tensor_desc_t>();
        let mut desc =
            sys::hoist_tensor_desc_t { struct_size, name: name.as_ptr(), mode, tensor_class, ..Default::default() };
        match source {
            Source::Copy(bytes) => return self.add_copied(unit, desc, bytes),
            Source::Adopt(bytes) => return self.add_adopted(unit, desc, bytes),
            Source::Transient(bytes) => {
                (desc.bytes, desc.flags) = (bytes, sys::hoist_tensor_flags_t::HOIST_TENSOR_TRANSIENT.0)
            }
            Source::Zero(bytes) => (desc.bytes, desc.flags) = (bytes, sys::hoist_tensor_flags_t::HOIST_TENSOR_ZERO.0),
        }
        self.add(unit, &desc)
    }

    fn add(&mut self, unit: UnitId, desc: &sys::hoist_tensor_desc_t) -> Result<TensorId> {
        let mut tensor = 0;
        // SAFETY: the callers have filled the description as its flags ask.
        check(unsafe { sys::hoist_manager_add_tensor(self.handle, unit.0, desc, &mut tensor) })?;
        Ok(TensorId(tensor))
    }

    fn add_copied(&mut self, unit: UnitId, mut desc: sys::hoist_tensor_desc_t, source: Boxed) -> Result<TensorId> {
        let source = Box::into_raw(Box::new(source));
        // SAFETY: the box stays where it is until it is released.
        let bytes = unsafe { (**source).as_ref() };
        (desc.host, desc.bytes) = (bytes.as_ptr().cast_mut().cast(), bytes.len() as u64);
        desc.flags = sys::hoist_tensor_flags_t::HOIST_TENSOR_COPY.0;
        desc.release = Some(release);
        desc.user_data = source.cast();
        self.add(unit, &desc).inspect_err(|_| {
            // SAFETY: a failed call has added nothing, so nobody else releases it.
            unsafe { release(source.cast()) };
        })
    }

    fn add_adopted(&mut self, unit: UnitId, mut desc: sys::hoist_tensor_desc_t, bytes: Box<[u8]>) -> Result<TensorId> {
        desc.bytes = bytes.len() as u64;
        let bytes = Box::into_raw(bytes);
        self.adopted.push(bytes);
        desc.host = bytes.cast();
        desc.flags = sys::hoist_tensor_flags_t::HOIST_TENSOR_ADOPT.0;
        self.add(unit, &desc)
    }

    /// Says that another unit uses a tensor too.
    pub fn add_use(&mut self, unit: UnitId, tensor: TensorId, mode: UseMode) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_manager_add_use(self.handle, unit.0, tensor.0, mode) })
    }

    /// Gives a tensor a further name.
    pub fn add_alias(&mut self, name: &str, tensor: TensorId) -> Result<()> {
        let name = c_string(name)?;
        // SAFETY: the name is copied.
        check(unsafe { sys::hoist_manager_add_alias(self.handle, name.as_ptr(), tensor.0) })
    }

    /// Finds a tensor by name or alias.
    pub fn tensor(&self, name: &str) -> Result<TensorId> {
        let (name, mut tensor) = (c_string(name)?, 0);
        // SAFETY: the name is read during the call only.
        check(unsafe { sys::hoist_manager_get_tensor(self.handle, name.as_ptr(), &mut tensor) })?;
        Ok(TensorId(tensor))
    }

    /// Ends building: pins and packs the host bytes, takes the arena.
    pub fn commit(&mut self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_manager_commit(self.handle) })
    }

    /// Waits until all submitted work has run and every dirty tensor's bytes are on the host.
    pub fn drain(&mut self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_manager_drain(self.handle) })
    }

    /// Drains, then gives the budget's device memory back.
    pub fn suspend(&mut self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_manager_suspend(self.handle) })
    }

    /// Takes the device memory again; the same plan goes on.
    pub fn resume(&mut self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_manager_resume(self.handle) })
    }

    /// Replaces all of a tensor's bytes.
    pub fn update(&mut self, tensor: TensorId, bytes: &[u8], stream: &Stream) -> Result<()> {
        let (src, count) = (bytes.as_ptr().cast(), bytes.len() as u64);
        // SAFETY: the bytes are read during the call only.
        check(unsafe { sys::hoist_tensor_update(self.handle, tensor.0, src, count, stream.as_ptr()) })
    }

    /// Reads a tensor's live bytes, wherever they are; `into` has the tensor's size.
    pub fn read(&mut self, tensor: TensorId, into: &mut [u8]) -> Result<()> {
        let (dst, count) = (into.as_mut_ptr().cast(), into.len() as u64);
        // SAFETY: the room is as long as said.
        check(unsafe { sys::hoist_tensor_read(self.handle, tensor.0, dst, count) })
    }

    /// Reads facts about a tensor; moves nothing.
    pub fn info(&self, tensor: TensorId) -> Result<TensorInfo<'_>> {
        let struct_size = std::mem::size_of::<sys::hoist_tensor_info_t>();
        let mut raw = sys::hoist_tensor_info_t { struct_size, ..Default::default() };
        // SAFETY: the struct's size is set; the name lives as long as the manager.
        let name = unsafe {
            check(sys::hoist_tensor_query(self.handle, tensor.0, &mut raw))?;
            CStr::from_ptr(raw.name).to_str().unwrap_or("")
        };
        Ok(TensorInfo {
            name,
            bytes: raw.bytes,
            host: raw.host,
            version: raw.version,
            on_device: raw.on_device != 0,
            host_current: raw.host_current != 0,
            flags: raw.flags,
            tensor_class: raw.tensor_class,
        })
    }

    /// Reads the counts and sizes of the manager's budget.
    pub fn query(&self) -> Result<BudgetStatus> {
        let mut status = BudgetStatus { struct_size: std::mem::size_of::<BudgetStatus>(), ..Default::default() };
        // SAFETY: the struct's size is set.
        check(unsafe { sys::hoist_manager_query(self.handle, &mut status) })?;
        Ok(status)
    }

    /// Begins a step; dropped without [`Step::end`] it is given up.
    pub fn step<'a>(&'a mut self, stream: &'a Stream) -> Result<Step<'a>> {
        Step::begin(self, stream)
    }

    /// Starts recording a timeline of at most `event_limit` intervals; 0: the library's limit.
    pub fn trace_begin(&mut self, event_limit: u64) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_trace_begin(self.handle, event_limit) })
    }

    /// Ends recording and writes Chrome trace JSON; None drops what was recorded.
    pub fn trace_end(&mut self, path: Option<&Path>) -> Result<()> {
        let path = path.map(c_path).transpose()?;
        let raw = path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
        // SAFETY: the path is read during the call only.
        check(unsafe { sys::hoist_trace_end(self.handle, raw) })
    }

    /// Starts collecting times of units over the newest steps, or forgets what was collected; 0: the library's limit.
    pub fn timing_begin(&mut self, step_limit: u32) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_timing_begin(self.handle, step_limit) })
    }

    /// Takes in the times of all that the device has reached by now.
    pub fn timing_update(&mut self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_timing_update(self.handle) })
    }

    /// A unit's times, over steps that were reached at the last update.
    pub fn timing(&self, unit: UnitId) -> Result<UnitTiming> {
        let mut timing = UnitTiming { struct_size: std::mem::size_of::<UnitTiming>(), ..Default::default() };
        // SAFETY: the struct's size is set.
        check(unsafe { sys::hoist_timing_query(self.handle, unit.0, &mut timing) })?;
        Ok(timing)
    }

    /// Ends collecting and forgets all.
    pub fn timing_end(&mut self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_timing_end(self.handle) })
    }
}

/// A path for C, byte for byte.
pub(crate) fn c_path(path: &Path) -> Result<std::ffi::CString> {
    match std::ffi::CString::new(path.as_os_str().as_bytes()) {
        Ok(text) => Ok(text),
        Err(_) => c_string(&path.to_string_lossy()),
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: the handle is ours; after its end nobody uses the adopted bytes.
        unsafe {
            sys::hoist_manager_destroy(self.handle);
            for bytes in self.adopted.drain(..) {
                drop(Box::from_raw(bytes));
            }
        }
    }
}
