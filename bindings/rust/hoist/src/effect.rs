// SPDX-License-Identifier: Apache-2.0
//! Ordered effects: the effects of one graph, which run in order or are refused.

use crate::error::{c_string, check};
use crate::handle::owner;
use crate::stream::{borrow_stream, Stream};
use crate::{Code, Device, Error, Result};
use hoist_sys as sys;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

owner! {
    /// The effects of one graph.
    Sequence, hoist_sequence_t, hoist_sequence_destroy
}
// SAFETY: @externsync calls may come from any thread, one at a time; functions are Send.
unsafe impl Send for Sequence {}

/// Index of an effect in its sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectId(pub u32);

/// That a run has come to a place; of one run of one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token(pub u64);

/// Counts of a sequence.
pub use hoist_sys::hoist_sequence_status_t as SequenceStatus;

type Function = Box<dyn FnMut(Option<&Stream>) -> Result<()> + Send>;

enum Failed {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

thread_local! {
    // What an effect came to that failed; it runs on the submitting thread, within the submit.
    static FAILED: RefCell<Option<Failed>> = const { RefCell::new(None) };
}

unsafe extern "C" fn run(user_data: *mut c_void, stream: *mut sys::hoist_stream_t) -> Code {
    // SAFETY: add made it of a boxed Function; the sequence runs one effect at a time.
    let function = unsafe { &mut *user_data.cast::<Function>() };
    // SAFETY: the stream is the one that submit was given, alive during the call.
    let stream = unsafe { borrow_stream(stream) };
    let failed = match catch_unwind(AssertUnwindSafe(|| function(stream.as_deref()))) {
        Ok(Ok(())) => return Code::HOIST_OK,
        Ok(Err(error)) => Failed::Error(error),
        Err(panic) => Failed::Panic(panic),
    };
    FAILED.set(Some(failed));
    Code::HOIST_ERROR_ABORTED
}

unsafe extern "C" fn release(user_data: *mut c_void) {
    // SAFETY: add made it of a boxed Function, and it is released once.
    drop(unsafe { Box::from_raw(user_data.cast::<Function>()) });
}

impl Sequence {
    /// Creates an empty sequence, which keeps the device alive.
    pub fn new(device: &Device, name: &str) -> Result<Self> {
        let name = c_string(name)?;
        // SAFETY: the device is open; the name is read during the call only.
        Self::make(|out| unsafe { sys::hoist_sequence_create(device.as_ptr(), name.as_ptr(), out) })
    }

    /// Registers the next effect. The function gets the stream that submit is given.
    pub fn add<F>(&mut self, name: &str, function: F) -> Result<EffectId>
    where
        F: FnMut(Option<&Stream>) -> Result<()> + Send + 'static,
    {
        let (name, mut effect) = (c_string(name)?, 0);
        let boxed: *mut Function = Box::into_raw(Box::new(Box::new(function)));
        let desc = sys::hoist_effect_desc_t {
            struct_size: std::mem::size_of::<sys::hoist_effect_desc_t>(),
            name: name.as_ptr(),
            function: Some(run),
            user_data: boxed.cast(),
            release: Some(release),
        };
        // SAFETY: the desc's size is set and its strings live during the call.
        check(unsafe { sys::hoist_effect_register(self.as_ptr(), &desc, &mut effect) }).inspect_err(|_| {
            // SAFETY: a failed call has not taken it.
            drop(unsafe { Box::from_raw(boxed) });
        })?;
        Ok(EffectId(effect))
    }

    /// Begins a run and gives the token that the first effect takes.
    pub fn begin(&mut self) -> Result<Token> {
        let mut token = 0;
        // SAFETY: the place is valid.
        check(unsafe { sys::hoist_sequence_begin(self.as_ptr(), &mut token) })?;
        Ok(Token(token))
    }

    /// Runs an effect in its place and gives the next token; what the function returns or panics with comes out here.
    pub fn submit(&mut self, effect: EffectId, stream: Option<&Stream>, token: Token) -> Result<Token> {
        let stream = stream.map_or(std::ptr::null_mut(), Stream::as_ptr);
        let mut next = 0;
        // SAFETY: the handles are live, the place is valid.
        let status = unsafe { sys::hoist_effect_submit(self.as_ptr(), effect.0, stream, token.0, &mut next) };
        match FAILED.take() {
            Some(Failed::Error(error)) => return Err(error),
            Some(Failed::Panic(panic)) => resume_unwind(panic),
            None => check(status)?,
        }
        Ok(Token(next))
    }

    /// Ends a run in which every effect has run.
    pub fn end(&mut self, token: Token) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_sequence_end(self.as_ptr(), token.0) })
    }

    /// Gives the open run up.
    pub fn abort(&mut self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_sequence_abort(self.as_ptr()) })
    }

    /// Reads the counts.
    pub fn query(&self) -> Result<SequenceStatus> {
        let struct_size = std::mem::size_of::<SequenceStatus>();
        let mut status = SequenceStatus { struct_size, ..Default::default() };
        // SAFETY: the struct's size is set.
        check(unsafe { sys::hoist_sequence_query(self.as_ptr(), &mut status) })?;
        Ok(status)
    }
}
