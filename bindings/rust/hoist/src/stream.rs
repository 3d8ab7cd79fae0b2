// SPDX-License-Identifier: Apache-2.0
//! Streams and events.

use crate::error::check;
use crate::handle::owner;
use crate::{Device, Result};
use hoist_sys as sys;
use std::ffi::c_void;

/// Which way a copy goes.
pub use hoist_sys::hoist_copy_kind_t as CopyKind;

owner! {
    /// A queue of work that runs in order on a device.
    ///
    /// Calls on it are externally synchronized, so it may go to another thread but not be shared:
    /// ```compile_fail,E0277
    /// fn shared<T: Sync>() {}
    /// shared::<hoist::Stream>();
    /// ```
    Stream, hoist_stream_t, hoist_stream_destroy
}
// SAFETY: @externsync calls may come from any thread, one at a time.
unsafe impl Send for Stream {}

owner! {
    /// A point in a stream that others can wait for.
    Event, hoist_event_t, hoist_event_destroy
}
// SAFETY: polling and waiting are @threadsafe; recording takes it exclusively.
unsafe impl Send for Event {}
unsafe impl Sync for Event {}

pub(crate) unsafe extern "C" fn run<F: FnOnce()>(user_data: *mut c_void) {
    // SAFETY: submit made it of a boxed F, and a host function runs once.
    let function = unsafe { Box::from_raw(user_data.cast::<F>()) };
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(function)).is_err() {
        std::process::abort(); // nobody could be told, and the stream's bytes are half done
    }
}

/// The stream behind a handle that stays its owner's.
/// # Safety
/// `stream` is NULL or a live handle, and outlives what is given out.
pub(crate) unsafe fn borrow_stream(stream: *mut sys::hoist_stream_t) -> Option<std::mem::ManuallyDrop<Stream>> {
    std::ptr::NonNull::new(stream).map(|handle| std::mem::ManuallyDrop::new(Stream(handle)))
}

impl Stream {
    /// Creates a stream, which keeps the device alive.
    pub fn new(device: &Device) -> Result<Self> {
        // SAFETY: the device is open.
        Self::make(|out| unsafe { sys::hoist_stream_create(device.as_ptr(), out) })
    }

    /// Makes a handle for a stream of the device's own kind that stays the caller's.
    /// # Safety
    /// `native` is such a stream (for cuda a CUstream) and outlives the handle.
    pub unsafe fn wrap(device: &Device, native: *mut c_void) -> Result<Self> {
        // SAFETY: as the caller promised.
        Self::make(|out| unsafe { sys::hoist_stream_wrap(device.as_ptr(), native, out) })
    }

    /// Waits on the calling thread until all submitted work has run.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_stream_wait(self.as_ptr()) })
    }

    /// Makes the stream wait, on the device, for a recorded event.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        // SAFETY: both handles are live.
        check(unsafe { sys::hoist_stream_wait_event(self.as_ptr(), event.as_ptr()) })
    }

    /// Submits a copy.
    /// # Safety
    /// Both ranges are valid for `kind`, do not overlap, and stay valid and untouched until it has run.
    pub unsafe fn submit_copy(&self, kind: CopyKind, dst: *mut c_void, src: *const c_void, bytes: u64) -> Result<()> {
        // SAFETY: as the caller promised.
        check(unsafe { sys::hoist_stream_submit_copy(self.as_ptr(), kind, dst, src, bytes) })
    }

    /// Submits a fill of device memory with one byte value.
    /// # Safety
    /// The range is device memory that stays valid and untouched until it has run.
    pub unsafe fn submit_fill(&self, dst: *mut c_void, value: u8, bytes: u64) -> Result<()> {
        // SAFETY: as the caller promised.
        check(unsafe { sys::hoist_stream_submit_fill(self.as_ptr(), dst, value, bytes) })
    }

    /// Submits a function that runs once, in stream order, on a thread of the device; it must not call
    /// hoist, and a panic in it ends the process. `modelled_us`: its time on a virtual clock.
    pub fn submit_host<F: FnOnce() + Send + 'static>(&self, function: F, modelled_us: f64) -> Result<()> {
        let boxed = Box::into_raw(Box::new(function));
        // SAFETY: `run` frees the box; where nothing was submitted it never runs.
        let status = unsafe { sys::hoist_stream_submit_host(self.as_ptr(), Some(run::<F>), boxed.cast(), modelled_us) };
        check(status).inspect_err(|_| {
            // SAFETY: a failed call has not submitted, so the box is still ours.
            drop(unsafe { Box::from_raw(boxed) });
        })
    }
}

impl Event {
    /// Creates an event that can be timed.
    pub fn new(device: &Device) -> Result<Self> {
        // SAFETY: the device is open.
        Self::make(|out| unsafe { sys::hoist_event_create(device.as_ptr(), out) })
    }

    /// Records the event at the stream's present end; recording again moves it.
    pub fn record(&mut self, stream: &Stream) -> Result<()> {
        // SAFETY: both handles are live.
        check(unsafe { sys::hoist_event_record(self.as_ptr(), stream.as_ptr()) })
    }

    /// Whether the recorded point has been reached.
    pub fn poll(&self) -> Result<bool> {
        let mut ready = 0;
        // SAFETY: the place is valid.
        check(unsafe { sys::hoist_event_poll(self.as_ptr(), &mut ready) })?;
        Ok(ready != 0)
    }

    /// Waits on the calling thread until the recorded point has been reached.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_event_wait(self.as_ptr()) })
    }
}

/// The time between two reached events, in µs.
pub fn elapsed_us(begin: &Event, end: &Event) -> Result<f64> {
    let mut us = 0.0;
    // SAFETY: both handles are live.
    check(unsafe { sys::hoist_event_get_elapsed(begin.as_ptr(), end.as_ptr(), &mut us) })?;
    Ok(us)
}
