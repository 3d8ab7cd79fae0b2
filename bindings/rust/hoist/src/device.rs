// SPDX-License-Identifier: Apache-2.0
//! Devices and their memory.

use crate::error::{c_string, check};
use crate::handle::owner;
use crate::Result;
use hoist_sys as sys;
use std::ffi::{c_void, CStr};
use std::marker::PhantomData;

owner! {
    /// An open device. Streams, events, budgets and managers keep it alive.
    Device, hoist_device_t, hoist_device_close
}
// SAFETY: every call on a device is @threadsafe.
unsafe impl Send for Device {}
unsafe impl Sync for Device {}

/// Facts about a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceProperties {
    /// As opened without options, such as "host:0".
    pub name: String,
    /// For people: model, mode.
    pub description: String,
    /// Device memory in all.
    pub memory_bytes: u64,
    /// Sizes and offsets of managed tensors are rounded up to it.
    pub alignment: u64,
    /// Bits of `hoist_sys::hoist_capability_t`.
    pub capabilities: u64,
    /// Sizes of what is mapped are multiples of it; 0: addresses cannot be mapped.
    pub granularity: u64,
    /// DLPack's number for this kind of device; 0: its memory has no views.
    pub dlpack_type: i32,
    /// DLPack's index of the device.
    pub dlpack_index: i32,
    /// Where it is plugged in, or "".
    pub pci_address: String,
}

impl DeviceProperties {
    fn read(
        call: impl FnOnce(&mut sys::hoist_device_properties_t) -> sys::hoist_status_t,
    ) -> Result<Self> {
        let mut raw = sys::hoist_device_properties_t {
            struct_size: std::mem::size_of::<sys::hoist_device_properties_t>(),
            ..Default::default()
        };
        check(call(&mut raw))?;
        // SAFETY: all texts end in a zero byte.
        let text = |raw: *const std::ffi::c_char| unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned();
        Ok(DeviceProperties {
            name: text(raw.name.as_ptr()),
            description: text(raw.description.as_ptr()),
            memory_bytes: raw.memory_bytes,
            alignment: raw.alignment,
            capabilities: raw.capabilities,
            granularity: raw.granularity,
            dlpack_type: raw.dlpack_type,
            dlpack_index: raw.dlpack_index,
            pci_address: text(raw.pci_address.as_ptr()),
        })
    }

    /// Whether host functions may touch device memory, and there are bytes in it.
    pub fn is_host_addressable(&self) -> bool {
        let has = |bit: sys::hoist_capability_t| self.capabilities & u64::from(bit.0) != 0;
        has(sys::hoist_capability_t::HOIST_CAPABILITY_HOST_ADDRESSABLE)
            && !has(sys::hoist_capability_t::HOIST_CAPABILITY_NO_BYTES)
    }
}

/// Counts the devices that can be opened.
pub fn device_count() -> Result<u32> {
    let mut count = 0;
    // SAFETY: the place is valid.
    check(unsafe { sys::hoist_device_count(&mut count) })?;
    Ok(count)
}

/// The facts of a device without opening it; indexes are below `device_count()`.
pub fn device_properties(index: u32) -> Result<DeviceProperties> {
    // SAFETY: the place is a whole struct with its size.
    DeviceProperties::read(|out| unsafe { sys::hoist_device_get_properties(index, out) })
}

/// Loads a device plugin; gives its kind of device.
pub fn plugin_load(path: &str) -> Result<&'static str> {
    let path = c_string(path)?;
    let mut kind = std::ptr::null();
    // SAFETY: the path is read during the call only; the kind is static, and letters, digits and underscores.
    unsafe {
        check(sys::hoist_plugin_load(path.as_ptr(), &mut kind))?;
        Ok(CStr::from_ptr(kind).to_str().unwrap_or_default())
    }
}

impl Device {
    /// Opens a device by name: "host:0", "host:1?mode=virtual&h2d_gbps=55".
    pub fn open(name: &str) -> Result<Self> {
        let name = c_string(name)?;
        // SAFETY: the name is read during the call only.
        Self::make(|out| unsafe { sys::hoist_device_open(name.as_ptr(), out) })
    }

    /// Reads the device's facts.
    pub fn query(&self) -> Result<DeviceProperties> {
        // SAFETY: the place is a whole struct with its size.
        DeviceProperties::read(|out| unsafe { sys::hoist_device_query(self.as_ptr(), out) })
    }

    /// Free and total device memory.
    pub fn query_memory(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both places are valid.
        check(unsafe { sys::hoist_device_query_memory(self.as_ptr(), &mut free, &mut total) })?;
        Ok((free, total))
    }

    /// Changes a setting of the open device.
    pub fn set(&self, key: &str, value: &str) -> Result<()> {
        let (key, value) = (c_string(key)?, c_string(value)?);
        // SAFETY: both texts are read during the call only.
        check(unsafe { sys::hoist_device_set(self.as_ptr(), key.as_ptr(), value.as_ptr()) })
    }

    /// The device's clock, in µs since it was opened.
    pub fn time_us(&self) -> Result<f64> {
        let mut us = 0.0;
        // SAFETY: the place is valid.
        check(unsafe { sys::hoist_device_get_time(self.as_ptr(), &mut us) })?;
        Ok(us)
    }

    /// Allocates device memory.
    pub fn memory(&self, bytes: u64) -> Result<Memory<'_>> {
        let mut memory = std::ptr::null_mut();
        // SAFETY: the place is valid.
        check(unsafe { sys::hoist_memory_create(self.as_ptr(), bytes, &mut memory) })?;
        Ok(Memory { device: self.as_ptr(), memory, bytes, of: PhantomData })
    }

    /// Takes host memory that is pinned for the device, for copies of the caller's own: zeros.
    pub fn host_memory(&self, bytes: u64) -> Result<HostMemory<'_>> {
        let (mut memory, mut pinned) = (std::ptr::null_mut(), 0);
        // SAFETY: both places are valid.
        check(unsafe { sys::hoist_host_memory_create(self.as_ptr(), bytes, &mut memory, &mut pinned) })?;
        Ok(HostMemory { device: self.as_ptr(), memory, bytes, pinned: pinned != 0, of: PhantomData })
    }
}

/// Device memory. Whoever submits work on it (which is unsafe) makes sure that it has run before the drop.
pub struct Memory<'d> {
    device: *mut sys::hoist_device_t,
    memory: *mut c_void,
    bytes: u64,
    of: PhantomData<&'d Device>,
}
// SAFETY: freeing is @threadsafe, and a pointer is only dereferenced in unsafe code.
unsafe impl Send for Memory<'_> {}
unsafe impl Sync for Memory<'_> {}

impl Memory<'_> {
    /// The device pointer.
    pub fn as_ptr(&self) -> *mut c_void {
        self.memory
    }
    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: it came from this device, which the lifetime keeps open.
        unsafe { sys::hoist_memory_destroy(self.device, self.memory) }
    }
}

/// Pinned host memory. Whoever submits work on it (which is unsafe) makes sure that it has run before the drop.
pub struct HostMemory<'d> {
    device: *mut sys::hoist_device_t,
    memory: *mut c_void,
    bytes: u64,
    pinned: bool,
    of: PhantomData<&'d Device>,
}
// SAFETY: freeing is @threadsafe, and a pointer is only dereferenced in unsafe code.
unsafe impl Send for HostMemory<'_> {}
unsafe impl Sync for HostMemory<'_> {}

impl HostMemory<'_> {
    /// The first byte; null for none.
    pub fn as_ptr(&self) -> *mut c_void {
        self.memory
    }
    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// False where the device refused to pin it: copies are slow then.
    pub fn pinned(&self) -> bool {
        self.pinned
    }
}

impl Drop for HostMemory<'_> {
    fn drop(&mut self) {
        // SAFETY: it came from this device, which the lifetime keeps open.
        unsafe { sys::hoist_host_memory_destroy(self.device, self.memory) }
    }
}
