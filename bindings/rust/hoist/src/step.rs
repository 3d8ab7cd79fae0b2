// SPDX-License-Identifier: Apache-2.0
//! Steps and units as scopes.

use crate::error::check;
use crate::{Code, Error, Manager, Result, Stream, TensorId, UnitId, UseMode};
use hoist_sys as sys;
use std::ffi::c_void;
use std::marker::PhantomData;

/// An open step. Dropped without [`Step::end`] it is given up, so that `?` inside it does the right thing.
pub struct Step<'a> {
    manager: &'a mut Manager,
    stream: &'a Stream,
    failure: Option<Error>, // of a unit that was dropped
    open: bool,
}

impl<'a> Step<'a> {
    pub(crate) fn begin(manager: &'a mut Manager, stream: &'a Stream) -> Result<Self> {
        // SAFETY: both handles are live.
        check(unsafe { sys::hoist_step_begin(manager.as_ptr(), stream.as_ptr()) })?;
        Ok(Self { manager, stream, failure: None, open: true })
    }

    /// Begins a unit on the step's stream.
    pub fn unit(&mut self, unit: UnitId) -> Result<Unit<'_>> {
        let stream = self.stream;
        self.unit_on(unit, stream)
    }

    /// Begins a unit on another stream.
    pub fn unit_on<'s>(&'s mut self, unit: UnitId, stream: &'s Stream) -> Result<Unit<'s>> {
        let struct_size = std::mem::size_of::<sys::hoist_unit_view_t>();
        let mut view = sys::hoist_unit_view_t { struct_size, ..Default::default() };
        // SAFETY: the view's size is set, the handles are live.
        check(unsafe { sys::hoist_unit_begin(self.manager.as_ptr(), unit.0, stream.as_ptr(), &mut view) })?;
        let host_addressable = self.manager.host_addressable;
        let manager = self.manager.as_ptr();
        Ok(Unit { manager, host_addressable, unit, stream, view, failure: &mut self.failure, open: true })
    }

    /// Ends the step; units that did not run count as skipped.
    pub fn end(mut self) -> Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure); // and the drop gives the step up
        }
        // SAFETY: the handles are live.
        check(unsafe { sys::hoist_step_end(self.manager.as_ptr(), self.stream.as_ptr()) })?;
        self.open = false;
        Ok(())
    }

    /// Gives the step up after an error in the user's compute.
    pub fn abort(mut self) -> Result<()> {
        self.open = false;
        // SAFETY: the handles are live.
        check(unsafe { sys::hoist_step_abort(self.manager.as_ptr(), self.stream.as_ptr()) })
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        if self.open {
            // SAFETY: the handles are live. The error that led here says more than this status could.
            let _ = unsafe { sys::hoist_step_abort(self.manager.as_ptr(), self.stream.as_ptr()) };
        }
    }
}

/// An open unit. Dropped without [`Unit::end`] it ends too; a failure of that is what [`Step::end`] returns.
///
/// Its views cannot outlive it:
/// ```compile_fail,E0505
/// fn keeps(unit: hoist::Unit<'_>) {
///     let view = unit.get(0);
///     unit.end().unwrap();
///     view.unwrap();
/// }
/// ```
/// and no other unit can begin before its end:
/// ```compile_fail,E0499
/// fn twice(step: &mut hoist::Step<'_>, a: hoist::UnitId) {
///     let first = step.unit(a);
///     let second = step.unit(a);
///     drop(first);
/// }
/// ```
pub struct Unit<'s> {
    manager: *mut sys::hoist_manager_t,
    host_addressable: bool,
    unit: UnitId,
    stream: &'s Stream,
    view: sys::hoist_unit_view_t,
    failure: &'s mut Option<Error>,
    open: bool,
}

/// A tensor on the device, during its unit.
#[derive(Clone, Copy)]
pub struct TensorView<'u> {
    raw: sys::hoist_tensor_view_t,
    of: PhantomData<&'u ()>,
}

impl TensorView<'_> {
    /// The device pointer, ordered on the unit's stream.
    pub fn as_ptr(&self) -> *mut c_void {
        self.raw.data
    }
    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.raw.bytes
    }
    /// Which tensor it is.
    pub fn tensor(&self) -> TensorId {
        TensorId(self.raw.tensor)
    }
    /// What the unit said that it does with it.
    pub fn mode(&self) -> UseMode {
        self.raw.mode
    }
}

impl Unit<'_> {
    /// How many tensors it uses.
    pub fn len(&self) -> usize {
        self.view.count
    }

    /// Whether it uses none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The i-th tensor, in the order in which uses were added.
    pub fn get(&self, i: usize) -> Option<TensorView<'_>> {
        if i >= self.view.count {
            return None;
        }
        // SAFETY: the elements lie `stride` bytes apart: a newer library's may be longer than ours.
        let raw =
            unsafe { *self.view.tensors.cast::<u8>().add(i * self.view.stride).cast::<sys::hoist_tensor_view_t>() };
        Some(TensorView { raw, of: PhantomData })
    }

    /// All its tensors.
    pub fn tensors(&self) -> impl Iterator<Item = TensorView<'_>> {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// Submits compute on the unit's tensors: runs once, in stream order, on a thread of the device. It must
    /// not call hoist, and a panic in it ends the process. `modelled_us`: its time on a virtual clock.
    ///
    /// HOIST_ERROR_UNSUPPORTED on devices whose memory host functions cannot touch.
    pub fn submit_host<F>(&self, function: F, modelled_us: f64) -> Result<()>
    where
        F: FnOnce(&mut HostTensors) + Send + 'static,
    {
        if !self.host_addressable {
            return Err(Error {
                code: Code::HOIST_ERROR_UNSUPPORTED,
                message: "host functions cannot touch this device's memory".into(),
                where_: "hoist::Unit::submit_host".into(),
                hint: "submit the device's own work on the pointers of the views".into(),
            });
        }
        let mut tensors = HostTensors(self.tensors().map(|view| view.raw).collect());
        self.stream.submit_host(move || function(&mut tensors), modelled_us)
    }

    /// Ends the unit: once the stream gets here its places may be refilled and its writes stored.
    pub fn end(mut self) -> Result<()> {
        self.open = false;
        self.finish()
    }

    fn finish(&self) -> Result<()> {
        // SAFETY: the handles are live.
        check(unsafe { sys::hoist_unit_end(self.manager, self.unit.0, self.stream.as_ptr()) })
    }
}

impl Drop for Unit<'_> {
    fn drop(&mut self) {
        if self.open {
            if let Err(error) = self.finish() {
                self.failure.get_or_insert(error);
            }
        }
    }
}

/// A unit's tensors inside a host function.
pub struct HostTensors(Vec<sys::hoist_tensor_view_t>);
// SAFETY: the bytes belong to the unit while the function runs, whatever thread it runs on.
unsafe impl Send for HostTensors {}

impl HostTensors {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Which tensor the i-th is.
    pub fn tensor(&self, i: usize) -> TensorId {
        TensorId(self.0[i].tensor)
    }

    /// The i-th tensor's bytes; panics where there is none.
    pub fn bytes(&self, i: usize) -> &[u8] {
        let view = self.0[i];
        if view.bytes == 0 {
            return &[];
        }
        // SAFETY: on a host-addressable device, in stream order between the unit's begin and end, nobody
        // else writes them.
        unsafe { std::slice::from_raw_parts(view.data.cast(), view.bytes as usize) }
    }

    /// The i-th tensor's bytes for writing; None where the unit said that it only reads it.
    pub fn bytes_mut(&mut self, i: usize) -> Option<&mut [u8]> {
        let view = self.0[i];
        if view.mode == UseMode::HOIST_USE_READ {
            return None;
        }
        if view.bytes == 0 {
            return Some(&mut []);
        }
        // SAFETY: as above; and a unit that writes a tensor has it alone.
        Some(unsafe { std::slice::from_raw_parts_mut(view.data.cast(), view.bytes as usize) })
    }
}
