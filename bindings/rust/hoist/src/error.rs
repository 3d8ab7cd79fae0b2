// SPDX-License-Identifier: Apache-2.0
//! Failures as values, the log, the version.

use hoist_sys as sys;
use std::ffi::{c_char, c_void, CStr, CString};
use std::fmt;

/// How much a log message matters.
pub use hoist_sys::hoist_log_level_t as LogLevel;
/// What a call came to: `Code::HOIST_ERROR_INFEASIBLE` and the like. A newer library may have more.
pub use hoist_sys::hoist_status_t as Code;

/// What a failed call left in the thread's error record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The status.
    pub code: Code,
    /// What happened: the object, the value it got.
    pub message: String,
    /// The public call that failed.
    pub where_: String,
    /// What would do; empty where nothing is known.
    pub hint: String,
}

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.where_, self.message)?;
        if self.hint.is_empty() {
            return Ok(());
        }
        write!(out, " ({})", self.hint)
    }
}

impl std::error::Error for Error {}

/// # Safety
/// `text` is a string of the library.
pub(crate) unsafe fn string(text: *const c_char) -> String {
    // SAFETY: as the caller promised.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Reads the calling thread's record at once where a call has failed.
pub(crate) fn check(status: Code) -> Result<()> {
    if status == Code::HOIST_OK {
        return Ok(());
    }
    let mut record =
        sys::hoist_error_t { struct_size: std::mem::size_of::<sys::hoist_error_t>(), ..Default::default() };
    // SAFETY: the record's size is set; its strings live until the next failure on this thread.
    let (read, texts) = unsafe {
        let read = sys::hoist_last_error(&mut record);
        (
            read,
            [record.message, record.where_, record.hint]
                .map(|text| if text.is_null() { String::new() } else { string(text) }),
        )
    };
    let [message, where_, hint] = texts;
    if read == Code::HOIST_OK && record.code == status {
        return Err(Error { code: status, message, where_, hint });
    }
    // Cannot be, but a wrong text would be worse than none.
    Err(Error { code: status, message: status_string(status).into(), where_: String::new(), hint: String::new() })
}

/// Text for C; a zero byte inside is an error of the caller's.
pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error {
        code: Code::HOIST_ERROR_INVALID_ARGUMENT,
        message: format!("the text {text:?} has a zero byte inside"),
        where_: "hoist (Rust)".into(),
        hint: "leave it out".into(),
    })
}

/// A status's name, such as "HOIST_ERROR_BUSY".
pub fn status_string(status: Code) -> &'static str {
    // SAFETY: a static string of the library.
    unsafe { CStr::from_ptr(sys::hoist_status_string(status)) }.to_str().unwrap_or("")
}

/// The version of the loaded library, such as "0.1.0".
pub fn version_string() -> &'static str {
    // SAFETY: a static string of the library.
    unsafe { CStr::from_ptr(sys::hoist_version_string()) }.to_str().unwrap_or("")
}

/// The highest ABI level that the loaded library serves.
pub fn version_abi() -> u32 {
    // SAFETY: no arguments.
    unsafe { sys::hoist_version_abi() }
}

unsafe extern "C" fn forward(user_data: *mut c_void, level: LogLevel, message: *const c_char) {
    // SAFETY: log_set gave a function of this type; the message is valid during the call.
    let (callback, text) =
        unsafe { (std::mem::transmute::<*mut c_void, fn(LogLevel, &str)>(user_data), CStr::from_ptr(message)) };
    callback(level, &text.to_string_lossy());
}

/// Sets the process-wide log callback, which may be called on any thread; None restores the default sink.
pub fn log_set(threshold: LogLevel, callback: Option<fn(LogLevel, &str)>) -> Result<()> {
    let user_data = callback.map_or(std::ptr::null_mut(), |function| function as *mut c_void);
    // SAFETY: a function pointer lives as long as the process.
    check(unsafe { sys::hoist_log_set(threshold, callback.map(|_| forward as _), user_data) })
}
