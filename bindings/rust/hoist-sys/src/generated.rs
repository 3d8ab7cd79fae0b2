// SPDX-License-Identifier: Apache-2.0
// Written by hoist-bindgen from include/hoist; a test checks that it is up to date.

pub const HOIST_PROFILE_STEPS_NONE: u32 = 4294967295;
pub const HOIST_CHECKPOINT_RANK_MAX: u32 = 16;
pub const HOIST_VERSION_MAJOR: u32 = 0;
pub const HOIST_VERSION_MINOR: u32 = 1;
pub const HOIST_VERSION_PATCH: u32 = 0;
pub const HOIST_ABI_VERSION: u32 = 1;
pub const HOIST_DEVICE_ABI_VERSION: u32 = 1;
impl hoist_status_t {
    /// Done.
    pub const HOIST_OK: hoist_status_t = hoist_status_t(0);
    /// An argument, option or name has a value that cannot be.
    pub const HOIST_ERROR_INVALID_ARGUMENT: hoist_status_t = hoist_status_t(1);
    /// The object is not in a state that allows the call.
    pub const HOIST_ERROR_INVALID_STATE: hoist_status_t = hoist_status_t(2);
    /// No device, unit, tensor, file or name like that.
    pub const HOIST_ERROR_NOT_FOUND: hoist_status_t = hoist_status_t(3);
    /// A name is taken, or the thing was done before.
    pub const HOIST_ERROR_ALREADY_EXISTS: hoist_status_t = hoist_status_t(4);
    /// This device or build cannot do it.
    pub const HOIST_ERROR_UNSUPPORTED: hoist_status_t = hoist_status_t(5);
    /// Host, pinned or device memory was refused.
    pub const HOIST_ERROR_OUT_OF_MEMORY: hoist_status_t = hoist_status_t(6);
    /// No plan fits the budget; the message names one that would do.
    pub const HOIST_ERROR_INFEASIBLE: hoist_status_t = hoist_status_t(7);
    /// Another thread is inside the same object.
    pub const HOIST_ERROR_BUSY: hoist_status_t = hoist_status_t(8);
    /// Calls or ops came in an order that is not allowed.
    pub const HOIST_ERROR_ORDER: hoist_status_t = hoist_status_t(9);
    /// The bytes asked for are gone or older than the live ones.
    pub const HOIST_ERROR_STALE: hoist_status_t = hoist_status_t(10);
    /// The handle belongs to the parent process.
    pub const HOIST_ERROR_FORKED: hoist_status_t = hoist_status_t(11);
    /// The operating system refused a file operation.
    pub const HOIST_ERROR_IO: hoist_status_t = hoist_status_t(12);
    /// A file or document contradicts itself or its format.
    pub const HOIST_ERROR_CORRUPT: hoist_status_t = hoist_status_t(13);
    /// A plan breaks the rules of execution.
    pub const HOIST_ERROR_INVALID_PLAN: hoist_status_t = hoist_status_t(14);
    /// The device reported a failure.
    pub const HOIST_ERROR_DEVICE: hoist_status_t = hoist_status_t(15);
    /// Given up on request or at a time limit.
    pub const HOIST_ERROR_ABORTED: hoist_status_t = hoist_status_t(16);
    /// A defect of hoist itself; please report it.
    pub const HOIST_ERROR_INTERNAL: hoist_status_t = hoist_status_t(17);
    /// Fixes the size of the enum; never returned.
    pub const HOIST_STATUS_FORCE_32: hoist_status_t = hoist_status_t(2147483647);
}
#[repr(transparent)]
/// What a call came to. 0 is success; the numbers never change. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_status_t(pub ::core::ffi::c_uint);
/// The error record of a thread. All strings are UTF-8, never NULL. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_error_t {
    /// Bytes of this struct that the caller knows. In.
    pub struct_size: usize,
    /// Status of the call that failed last on this thread.
    pub code: hoist_status_t,
    /// Zero.
    pub reserved: u32,
    /// What happened: the object, the value it got.
    pub message: *const ::core::ffi::c_char,
    /// The public call that failed.
    pub where_: *const ::core::ffi::c_char,
    /// What would do; empty where nothing is known.
    pub hint: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hoist_error_t"][::core::mem::size_of::<hoist_error_t>() - 40usize];
    ["Alignment of hoist_error_t"][::core::mem::align_of::<hoist_error_t>() - 8usize];
    [
        "Offset of field: hoist_error_t::struct_size",
    ][::core::mem::offset_of!(hoist_error_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_error_t::code",
    ][::core::mem::offset_of!(hoist_error_t, code) - 8usize];
    [
        "Offset of field: hoist_error_t::reserved",
    ][::core::mem::offset_of!(hoist_error_t, reserved) - 12usize];
    [
        "Offset of field: hoist_error_t::message",
    ][::core::mem::offset_of!(hoist_error_t, message) - 16usize];
    [
        "Offset of field: hoist_error_t::where_",
    ][::core::mem::offset_of!(hoist_error_t, where_) - 24usize];
    [
        "Offset of field: hoist_error_t::hint",
    ][::core::mem::offset_of!(hoist_error_t, hint) - 32usize];
};
impl Default for hoist_error_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Returns a status's name, such as "HOIST_ERROR_BUSY".
 @param status Any value.
 @return A static string, never NULL; "HOIST_ERROR_UNKNOWN" for an unknown value.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_status_string(status: hoist_status_t) -> *const ::core::ffi::c_char;
}
extern "C" {
    /** @brief Reads the error record of the calling thread.

 Only failures write the record, so clean-up calls do not erase it. Before the
 first failure the code is HOIST_OK and the strings are empty.
 @param[in,out] out_error struct_size is read; the rest is written. The strings
        belong to the library and live until the next failure on this thread.
 @return HOIST_OK, or HOIST_ERROR_INVALID_ARGUMENT for NULL or a struct_size that is too small.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_last_error(out_error: *mut hoist_error_t) -> hoist_status_t;
}
impl hoist_log_level_t {
    /// For those who look into hoist.
    pub const HOIST_LOG_DEBUG: hoist_log_level_t = hoist_log_level_t(0);
    /// What was decided: a plan, a replan, a phase.
    pub const HOIST_LOG_INFO: hoist_log_level_t = hoist_log_level_t(1);
    /// A slower right path was taken, or something has no effect.
    pub const HOIST_LOG_WARNING: hoist_log_level_t = hoist_log_level_t(2);
    /// Something failed where no caller could be told.
    pub const HOIST_LOG_ERROR: hoist_log_level_t = hoist_log_level_t(3);
    /// As a threshold: nothing.
    pub const HOIST_LOG_OFF: hoist_log_level_t = hoist_log_level_t(4);
    /// Fixes the size of the enum.
    pub const HOIST_LOG_FORCE_32: hoist_log_level_t = hoist_log_level_t(2147483647);
}
#[repr(transparent)]
/// How much a log message matters. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_log_level_t(pub ::core::ffi::c_uint);
/** A log callback. Called on whichever thread has something to say, with no lock
 of hoist held; it may be called from several threads at once. @p message is
 valid during the call only. @since 0.1*/
pub type hoist_log_fn_t = ::core::option::Option<
    unsafe extern "C" fn(
        user_data: *mut ::core::ffi::c_void,
        level: hoist_log_level_t,
        message: *const ::core::ffi::c_char,
    ),
>;
extern "C" {
    /** @brief Sets the process-wide log callback.

 The default writes warnings and errors to stderr. The environment variable
 HOIST_LOG (debug, info, warning, error, off) sets the default threshold.
 @param threshold Messages below it are not formatted.
 @param callback NULL restores the default sink.
 @param user_data Passed to the callback; stays the caller's and must outlive its use.
 @return HOIST_OK, or HOIST_ERROR_INVALID_ARGUMENT for an unknown threshold.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_log_set(
        threshold: hoist_log_level_t,
        callback: hoist_log_fn_t,
        user_data: *mut ::core::ffi::c_void,
    ) -> hoist_status_t;
}
/// An open device. Counted: every open needs its close; streams, events and managers keep it alive.
#[repr(C)]
#[derive(Debug)]
pub struct hoist_device_t {
    _unused: [u8; 0],
}
/// A queue of work that runs in order on a device.
#[repr(C)]
#[derive(Debug)]
pub struct hoist_stream_t {
    _unused: [u8; 0],
}
/// A point in a stream that others can wait for.
#[repr(C)]
#[derive(Debug)]
pub struct hoist_event_t {
    _unused: [u8; 0],
}
impl hoist_capability_t {
    /// Device pointers may be read and written by host functions.
    pub const HOIST_CAPABILITY_HOST_ADDRESSABLE: hoist_capability_t = hoist_capability_t(
        1,
    );
    /// Work runs beside the calling thread.
    pub const HOIST_CAPABILITY_ASYNC: hoist_capability_t = hoist_capability_t(2);
    /// Has copy_batch.
    pub const HOIST_CAPABILITY_BATCH: hoist_capability_t = hoist_capability_t(4);
    /// Wraps native streams.
    pub const HOIST_CAPABILITY_WRAP: hoist_capability_t = hoist_capability_t(8);
    /// Memory must be opened for host functions (access_begin, access_end).
    pub const HOIST_CAPABILITY_ACCESS: hoist_capability_t = hoist_capability_t(16);
    /// Times are modelled; the clock advances inside host waits only.
    pub const HOIST_CAPABILITY_VIRTUAL_CLOCK: hoist_capability_t = hoist_capability_t(
        32,
    );
    /// Bytes are not moved: only times and sizes are real.
    pub const HOIST_CAPABILITY_NO_BYTES: hoist_capability_t = hoist_capability_t(64);
    /// Fixes the size of the enum.
    pub const HOIST_CAPABILITY_FORCE_32: hoist_capability_t = hoist_capability_t(
        2147483647,
    );
}
#[repr(transparent)]
/// What a device can do beyond the required calls. Bits of hoist_device_properties_t::capabilities. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_capability_t(pub ::core::ffi::c_uint);
/// Facts about a device. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_device_properties_t {
    /// Bytes of this struct that the caller knows. In.
    pub struct_size: usize,
    /// As opened without options, such as "host:0".
    pub name: [::core::ffi::c_char; 64usize],
    /// For people: model, mode.
    pub description: [::core::ffi::c_char; 128usize],
    /// Device memory in all.
    pub memory_bytes: u64,
    /// Sizes and offsets of managed tensors are rounded up to it, in bytes.
    pub alignment: u64,
    /// Bits of ::hoist_capability_t.
    pub capabilities: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_device_properties_t",
    ][::core::mem::size_of::<hoist_device_properties_t>() - 224usize];
    [
        "Alignment of hoist_device_properties_t",
    ][::core::mem::align_of::<hoist_device_properties_t>() - 8usize];
    [
        "Offset of field: hoist_device_properties_t::struct_size",
    ][::core::mem::offset_of!(hoist_device_properties_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_device_properties_t::name",
    ][::core::mem::offset_of!(hoist_device_properties_t, name) - 8usize];
    [
        "Offset of field: hoist_device_properties_t::description",
    ][::core::mem::offset_of!(hoist_device_properties_t, description) - 72usize];
    [
        "Offset of field: hoist_device_properties_t::memory_bytes",
    ][::core::mem::offset_of!(hoist_device_properties_t, memory_bytes) - 200usize];
    [
        "Offset of field: hoist_device_properties_t::alignment",
    ][::core::mem::offset_of!(hoist_device_properties_t, alignment) - 208usize];
    [
        "Offset of field: hoist_device_properties_t::capabilities",
    ][::core::mem::offset_of!(hoist_device_properties_t, capabilities) - 216usize];
};
impl Default for hoist_device_properties_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hoist_copy_kind_t {
    /// Host to device.
    pub const HOIST_COPY_H2D: hoist_copy_kind_t = hoist_copy_kind_t(0);
    /// Device to host.
    pub const HOIST_COPY_D2H: hoist_copy_kind_t = hoist_copy_kind_t(1);
    /// Within a device, or from a peer's memory.
    pub const HOIST_COPY_D2D: hoist_copy_kind_t = hoist_copy_kind_t(2);
    /// Fixes the size of the enum.
    pub const HOIST_COPY_KIND_FORCE_32: hoist_copy_kind_t = hoist_copy_kind_t(
        2147483647,
    );
}
#[repr(transparent)]
/// Which way a copy goes. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_copy_kind_t(pub ::core::ffi::c_uint);
/** A host function that runs in stream order. On a device with
 HOIST_CAPABILITY_HOST_ADDRESSABLE it may use device pointers: this is how compute
 runs on the host device. It must not call hoist. Runs on a thread of the device. @since 0.1*/
pub type hoist_host_fn_t = ::core::option::Option<
    unsafe extern "C" fn(user_data: *mut ::core::ffi::c_void),
>;
extern "C" {
    /** @brief Counts the devices that can be opened, of every registered kind.
 @param[out] out_count At least 2: two host devices are built in.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_device_count(out_count: *mut u32) -> hoist_status_t;
}
extern "C" {
    /** @brief Opens a device by name: "host:0", "host:1?mode=virtual&h2d_gbps=55".

 Options of the host device: mode (inline, threaded, guarded, virtual), memory (bytes, such as
 512MiB), h2d_gbps, d2h_gbps (10^9 bytes a second; 0: as fast as memcpy), latency_us, duplex_factor,
 alignment, bytes (real, none), copy_delay_us (a random delay up to it before each copy), seed.
 Cuda devices have no options; where there are none, the error says why (no driver, none visible).
 Opening a device that is open already gives the same one; options that differ are an error.
 @param name Kind, colon, index, then options; read during the call only.
 @param[out] out_device The caller owns one reference; close it with hoist_device_close.
 @return HOIST_OK; HOIST_ERROR_NOT_FOUND for a kind or index that is not there; HOIST_ERROR_INVALID_ARGUMENT
         for an option that is unknown (with the nearest known one) or has a bad value;
         HOIST_ERROR_ALREADY_EXISTS where it is open with other options; HOIST_ERROR_DEVICE.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_device_open(
        name: *const ::core::ffi::c_char,
        out_device: *mut *mut hoist_device_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Gives a reference back; the last one (children included) closes the device. NULL is a no-op.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_device_close(device: *mut hoist_device_t);
}
extern "C" {
    /** @brief Reads a device's facts.
 @param[in,out] out_properties struct_size is read, the rest written.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_device_query(
        device: *const hoist_device_t,
        out_properties: *mut hoist_device_properties_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Reads how much device memory is free, and how much there is, in bytes.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_device_query_memory(
        device: *const hoist_device_t,
        out_free: *mut u64,
        out_total: *mut u64,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Changes a setting of an open device.

 Host device: "copy_delay_us"; "memory_taken" (bytes that somebody else took, to try shortages);
 "fail" = "SLOT@N" makes the N-th next call of a slot of the table fail ("SLOT@N+" that one and all
 later ones; "" none), so that every error path can be tried. Cuda device: "fail" alone.
 @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for an unknown key (with the nearest known one) or value.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_device_set(
        device: *mut hoist_device_t,
        key: *const ::core::ffi::c_char,
        value: *const ::core::ffi::c_char,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Reads the device's clock, in µs since it was opened; modelled time on a virtual clock.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_device_get_time(
        device: *const hoist_device_t,
        out_us: *mut f64,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Allocates device memory.
 @param bytes 0 gives a pointer that may only be freed.
 @param[out] out_memory A device pointer, aligned to the device's alignment.
 @return HOIST_OK or HOIST_ERROR_OUT_OF_MEMORY with what was asked for and what is free.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_memory_create(
        device: *mut hoist_device_t,
        bytes: u64,
        out_memory: *mut *mut ::core::ffi::c_void,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Frees device memory. The caller has made sure that no work uses it. NULL is a no-op.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_memory_destroy(
        device: *mut hoist_device_t,
        memory: *mut ::core::ffi::c_void,
    );
}
extern "C" {
    /** @brief Creates a stream. It keeps the device alive.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_stream_create(
        device: *mut hoist_device_t,
        out_stream: *mut *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Makes a handle for a stream of the device's own kind that the caller owns.
 @param native For cuda a CUstream. The caller keeps it alive until the handle is destroyed.
 @return HOIST_OK or HOIST_ERROR_UNSUPPORTED where there are no native streams.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_stream_wrap(
        device: *mut hoist_device_t,
        native: *mut ::core::ffi::c_void,
        out_stream: *mut *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Destroys a stream after its work has run, or the handle of a wrapped one. NULL is a no-op.
 @externsync @blocking @since 0.1*/
    pub fn hoist_stream_destroy(stream: *mut hoist_stream_t);
}
extern "C" {
    /** @brief Waits on the calling thread until all work submitted to the stream has run.
 @return HOIST_OK or HOIST_ERROR_DEVICE with the failure of that work.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_stream_wait(stream: *mut hoist_stream_t) -> hoist_status_t;
}
extern "C" {
    /** @brief Makes the stream wait, on the device, for an event; returns at once.
 @param event Recorded already; one that never was is HOIST_ERROR_ORDER.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_stream_wait_event(
        stream: *mut hoist_stream_t,
        event: *mut hoist_event_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Submits a copy to the stream.

 Host memory of an asynchronous copy stays valid and unchanged until the copy has run. 0 bytes is a no-op.
 @param kind Which way.
 @param dst Must not overlap @p src.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_stream_submit_copy(
        stream: *mut hoist_stream_t,
        kind: hoist_copy_kind_t,
        dst: *mut ::core::ffi::c_void,
        src: *const ::core::ffi::c_void,
        bytes: u64,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Submits a fill of device memory with one byte value.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_stream_submit_fill(
        stream: *mut hoist_stream_t,
        dst: *mut ::core::ffi::c_void,
        value: u8,
        bytes: u64,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Submits a host function to the stream: compute, on the host device.
 @param function Runs in stream order; see ::hoist_host_fn_t.
 @param user_data Passed to it; stays the caller's and must live until it has run.
 @param modelled_us Time that it takes on a virtual clock; elsewhere ignored.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_stream_submit_host(
        stream: *mut hoist_stream_t,
        function: hoist_host_fn_t,
        user_data: *mut ::core::ffi::c_void,
        modelled_us: f64,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Creates an event that can be timed. It keeps the device alive.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_event_create(
        device: *mut hoist_device_t,
        out_event: *mut *mut hoist_event_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Destroys an event; work that waits for it still runs. NULL is a no-op.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_event_destroy(event: *mut hoist_event_t);
}
extern "C" {
    /** @brief Records the event at the stream's present end; recording again moves it.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_event_record(
        event: *mut hoist_event_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Says whether the recorded point has been reached.
 @param[out] out_ready 1 when reached, 0 when not yet.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_event_poll(
        event: *mut hoist_event_t,
        out_ready: *mut ::core::ffi::c_int,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Waits on the calling thread until the recorded point has been reached.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_event_wait(event: *mut hoist_event_t) -> hoist_status_t;
}
extern "C" {
    /** @brief Gives the time between two reached events, in µs.
 @return HOIST_OK or HOIST_ERROR_INVALID_STATE where one has not been reached.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_event_get_elapsed(
        begin: *const hoist_event_t,
        end: *const hoist_event_t,
        out_us: *mut f64,
    ) -> hoist_status_t;
}
/// A budget over one device.
#[repr(C)]
#[derive(Debug)]
pub struct hoist_budget_t {
    _unused: [u8; 0],
}
impl hoist_switch_t {
    /// What the environment says, else off.
    pub const HOIST_SWITCH_DEFAULT: hoist_switch_t = hoist_switch_t(0);
    /// Off.
    pub const HOIST_SWITCH_OFF: hoist_switch_t = hoist_switch_t(1);
    /// On.
    pub const HOIST_SWITCH_ON: hoist_switch_t = hoist_switch_t(2);
    /// Fixes the size of the enum.
    pub const HOIST_SWITCH_FORCE_32: hoist_switch_t = hoist_switch_t(2147483647);
}
#[repr(transparent)]
/// A setting that is on, off, or what the environment says. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_switch_t(pub ::core::ffi::c_uint);
/** Options of a budget; a zeroed struct with its size is all defaults. Each field is also a key of
 hoist_budget_options_set and, as HOIST_<KEY>, an environment variable that sets its default.
 @since 0.1*/
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_budget_options_t {
    /// sizeof(hoist_budget_options_t).
    pub struct_size: usize,
    /// Device bytes for managed tensors and the largest workspace; 0: by share.
    pub budget_bytes: u64,
    /**< Share of the managed tensors' unique bytes, each rounded up to the device's
alignment (plus the largest workspace); 0: 1.0, so that everything stays.*/
    pub budget_share: f64,
    /// Most bytes of pinned host memory; 0: no limit.
    pub pinned_limit_bytes: u64,
    /// Steps measured between discovery and serving; 0: 3.
    pub profile_steps: u32,
    /// Steps that may be submitted ahead of the device; step begin waits beyond. 0: 2.
    pub run_ahead_steps: u32,
    /// Iterations of the planner's search; 0: the planner's default.
    pub plan_effort: u32,
    /// Trust mode: poison freed places, check resident bytes and handles. Key "trust".
    pub trust: hoist_switch_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_budget_options_t",
    ][::core::mem::size_of::<hoist_budget_options_t>() - 48usize];
    [
        "Alignment of hoist_budget_options_t",
    ][::core::mem::align_of::<hoist_budget_options_t>() - 8usize];
    [
        "Offset of field: hoist_budget_options_t::struct_size",
    ][::core::mem::offset_of!(hoist_budget_options_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_budget_options_t::budget_bytes",
    ][::core::mem::offset_of!(hoist_budget_options_t, budget_bytes) - 8usize];
    [
        "Offset of field: hoist_budget_options_t::budget_share",
    ][::core::mem::offset_of!(hoist_budget_options_t, budget_share) - 16usize];
    [
        "Offset of field: hoist_budget_options_t::pinned_limit_bytes",
    ][::core::mem::offset_of!(hoist_budget_options_t, pinned_limit_bytes) - 24usize];
    [
        "Offset of field: hoist_budget_options_t::profile_steps",
    ][::core::mem::offset_of!(hoist_budget_options_t, profile_steps) - 32usize];
    [
        "Offset of field: hoist_budget_options_t::run_ahead_steps",
    ][::core::mem::offset_of!(hoist_budget_options_t, run_ahead_steps) - 36usize];
    [
        "Offset of field: hoist_budget_options_t::plan_effort",
    ][::core::mem::offset_of!(hoist_budget_options_t, plan_effort) - 40usize];
    [
        "Offset of field: hoist_budget_options_t::trust",
    ][::core::mem::offset_of!(hoist_budget_options_t, trust) - 44usize];
};
impl Default for hoist_budget_options_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Makes all defaults, for callers without the macro.
 @param[out] out_options struct_size included.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_budget_options_init(
        out_options: *mut hoist_budget_options_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Sets an option by name.

 "budget" takes bytes ("24GiB", "1000000") or a share ("60%"); the other keys are the fields' names.
 @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for an unknown key (with the nearest known one) or a bad value.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_budget_options_set(
        options: *mut hoist_budget_options_t,
        key: *const ::core::ffi::c_char,
        value: *const ::core::ffi::c_char,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Creates a budget over a device, which it keeps alive.
 @param options NULL for all defaults.
 @param[out] out_budget The caller owns one reference.
 @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for options that cannot be, an environment value that cannot be,
         or an unknown HOIST_ environment name (with the nearest known one).
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_budget_create(
        device: *mut hoist_device_t,
        options: *const hoist_budget_options_t,
        out_budget: *mut *mut hoist_budget_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Gives the reference back; what has joined keeps the budget alive. NULL is a no-op.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_budget_destroy(budget: *mut hoist_budget_t);
}
extern "C" {
    /** @brief Changes the budget at run time.

 The new plan is made and checked, and its memory taken, before the call returns; the next step's begin
 swaps. Where anything fails the old budget and plan go on.
 @param budget_bytes New budget; 0: use @p budget_share.
 @param budget_share New share; 0 with 0 bytes is an error.
 @return HOIST_OK; HOIST_ERROR_INFEASIBLE naming the smallest budget that would do; HOIST_ERROR_OUT_OF_MEMORY;
         HOIST_ERROR_INVALID_STATE between a step's begin and end.
 @externsync @blocking @since 0.1*/
    pub fn hoist_budget_set(
        budget: *mut hoist_budget_t,
        budget_bytes: u64,
        budget_share: f64,
    ) -> hoist_status_t;
}
impl hoist_phase_t {
    /// Units and tensors are being added.
    pub const HOIST_PHASE_BUILDING: hoist_phase_t = hoist_phase_t(0);
    /// The next step shows the order of units.
    pub const HOIST_PHASE_DISCOVERY: hoist_phase_t = hoist_phase_t(1);
    /// Steps are measured under a first plan.
    pub const HOIST_PHASE_PROFILING: hoist_phase_t = hoist_phase_t(2);
    /// Steps run a plan made from measured times.
    pub const HOIST_PHASE_SERVING: hoist_phase_t = hoist_phase_t(3);
    /// Device memory has been given back; resume goes on.
    pub const HOIST_PHASE_SUSPENDED: hoist_phase_t = hoist_phase_t(4);
    /// Fixes the size of the enum.
    pub const HOIST_PHASE_FORCE_32: hoist_phase_t = hoist_phase_t(2147483647);
}
#[repr(transparent)]
/// Where the lifecycle stands. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_phase_t(pub ::core::ffi::c_uint);
/// Counts and sizes; counts run from the commit. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_budget_status_t {
    /// Bytes of this struct that the caller knows. In.
    pub struct_size: usize,
    /// Where the lifecycle stands.
    pub phase: hoist_phase_t,
    /// Units of all that joined.
    pub unit_count: u32,
    /// Tensors (aliases apart) of all that joined.
    pub tensor_count: u64,
    /// Unique bytes of these, each rounded up to the device's alignment.
    pub tensor_bytes: u64,
    /// The budget in force.
    pub budget_bytes: u64,
    /// Device memory held for tensors.
    pub arena_bytes: u64,
    /// Most arena bytes in use at once under the present plan.
    pub peak_bytes: u64,
    /// Pinned host memory held.
    pub pinned_bytes: u64,
    /// Host memory of callers that is registered where it is.
    pub adopted_bytes: u64,
    /// Steps ended, aborted ones included.
    pub steps: u64,
    /// Steps aborted.
    pub aborted_steps: u64,
    /// Units begun out of the planned order, after discovery.
    pub mispredictions: u64,
    /// Loads that no plan had asked for, after discovery.
    pub demand_loads: u64,
    /// Plans swapped in after the first.
    pub replans: u64,
    /// Bytes copied from the host.
    pub h2d_bytes: u64,
    /// Bytes copied to the host.
    pub d2h_bytes: u64,
    /// Of the last ended step: bytes submitted between its begin and its end.
    pub last_step_h2d_bytes: u64,
    /// The same, to the host.
    pub last_step_d2h_bytes: u64,
    /// Of the present plan.
    pub predicted_step_us: f64,
    /// A time that no plan can beat, for the present problem.
    pub bound_us: f64,
    /**< Of the newest step whose end has been reached: from its begin to the next begin's
place on the device, that is the period of steps. 0: none yet.*/
    pub last_step_us: f64,
    /// Waiting for bytes in that step.
    pub last_stall_us: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_budget_status_t",
    ][::core::mem::size_of::<hoist_budget_status_t>() - 176usize];
    [
        "Alignment of hoist_budget_status_t",
    ][::core::mem::align_of::<hoist_budget_status_t>() - 8usize];
    [
        "Offset of field: hoist_budget_status_t::struct_size",
    ][::core::mem::offset_of!(hoist_budget_status_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_budget_status_t::phase",
    ][::core::mem::offset_of!(hoist_budget_status_t, phase) - 8usize];
    [
        "Offset of field: hoist_budget_status_t::unit_count",
    ][::core::mem::offset_of!(hoist_budget_status_t, unit_count) - 12usize];
    [
        "Offset of field: hoist_budget_status_t::tensor_count",
    ][::core::mem::offset_of!(hoist_budget_status_t, tensor_count) - 16usize];
    [
        "Offset of field: hoist_budget_status_t::tensor_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, tensor_bytes) - 24usize];
    [
        "Offset of field: hoist_budget_status_t::budget_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, budget_bytes) - 32usize];
    [
        "Offset of field: hoist_budget_status_t::arena_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, arena_bytes) - 40usize];
    [
        "Offset of field: hoist_budget_status_t::peak_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, peak_bytes) - 48usize];
    [
        "Offset of field: hoist_budget_status_t::pinned_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, pinned_bytes) - 56usize];
    [
        "Offset of field: hoist_budget_status_t::adopted_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, adopted_bytes) - 64usize];
    [
        "Offset of field: hoist_budget_status_t::steps",
    ][::core::mem::offset_of!(hoist_budget_status_t, steps) - 72usize];
    [
        "Offset of field: hoist_budget_status_t::aborted_steps",
    ][::core::mem::offset_of!(hoist_budget_status_t, aborted_steps) - 80usize];
    [
        "Offset of field: hoist_budget_status_t::mispredictions",
    ][::core::mem::offset_of!(hoist_budget_status_t, mispredictions) - 88usize];
    [
        "Offset of field: hoist_budget_status_t::demand_loads",
    ][::core::mem::offset_of!(hoist_budget_status_t, demand_loads) - 96usize];
    [
        "Offset of field: hoist_budget_status_t::replans",
    ][::core::mem::offset_of!(hoist_budget_status_t, replans) - 104usize];
    [
        "Offset of field: hoist_budget_status_t::h2d_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, h2d_bytes) - 112usize];
    [
        "Offset of field: hoist_budget_status_t::d2h_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, d2h_bytes) - 120usize];
    [
        "Offset of field: hoist_budget_status_t::last_step_h2d_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, last_step_h2d_bytes) - 128usize];
    [
        "Offset of field: hoist_budget_status_t::last_step_d2h_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, last_step_d2h_bytes) - 136usize];
    [
        "Offset of field: hoist_budget_status_t::predicted_step_us",
    ][::core::mem::offset_of!(hoist_budget_status_t, predicted_step_us) - 144usize];
    [
        "Offset of field: hoist_budget_status_t::bound_us",
    ][::core::mem::offset_of!(hoist_budget_status_t, bound_us) - 152usize];
    [
        "Offset of field: hoist_budget_status_t::last_step_us",
    ][::core::mem::offset_of!(hoist_budget_status_t, last_step_us) - 160usize];
    [
        "Offset of field: hoist_budget_status_t::last_stall_us",
    ][::core::mem::offset_of!(hoist_budget_status_t, last_stall_us) - 168usize];
};
impl Default for hoist_budget_status_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Reads counts and sizes; changes nothing.
 @param[in,out] out_status struct_size is read, the rest written.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_budget_query(
        budget: *const hoist_budget_t,
        out_status: *mut hoist_budget_status_t,
    ) -> hoist_status_t;
}
/// An open checkpoint: headers parsed and checked, bytes mapped read-only.
#[repr(C)]
#[derive(Debug)]
pub struct hoist_checkpoint_t {
    _unused: [u8; 0],
}
/// A tensor of a checkpoint. Strings and bytes live as long as the checkpoint. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_checkpoint_tensor_t {
    /// Bytes of this struct that the caller knows. In.
    pub struct_size: usize,
    /// Its name.
    pub name: *const ::core::ffi::c_char,
    /// As in the file: "F32", "BF16", "I8", ...
    pub dtype: *const ::core::ffi::c_char,
    /// Path of the file that holds it.
    pub file: *const ::core::ffi::c_char,
    /// Its bytes, mapped; little-endian. NULL for none.
    pub data: *const ::core::ffi::c_void,
    /// Its size.
    pub bytes: u64,
    /// Of its bytes in the file.
    pub offset: u64,
    /// Dimensions.
    pub rank: u32,
    /// Bits of one element.
    pub item_bits: u32,
    /// The first `rank` are set.
    pub shape: [u64; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_checkpoint_tensor_t",
    ][::core::mem::size_of::<hoist_checkpoint_tensor_t>() - 192usize];
    [
        "Alignment of hoist_checkpoint_tensor_t",
    ][::core::mem::align_of::<hoist_checkpoint_tensor_t>() - 8usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::struct_size",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::name",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, name) - 8usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::dtype",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, dtype) - 16usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::file",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, file) - 24usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::data",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, data) - 32usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::bytes",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, bytes) - 40usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::offset",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, offset) - 48usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::rank",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, rank) - 56usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::item_bits",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, item_bits) - 60usize];
    [
        "Offset of field: hoist_checkpoint_tensor_t::shape",
    ][::core::mem::offset_of!(hoist_checkpoint_tensor_t, shape) - 64usize];
};
impl Default for hoist_checkpoint_tensor_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Opens MODEL.safetensors, or MODEL.safetensors.index.json with all shards that it names.

 Headers are checked whole first: sizes against the file, dtypes against shapes, overlaps, holes, missing shards,
 names that repeat. Tensors are in the order of file and offset.
 @param[out] out_checkpoint The caller owns it.
 @return HOIST_OK; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_IO; HOIST_ERROR_CORRUPT naming file, tensor and offset.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_checkpoint_open(
        path: *const ::core::ffi::c_char,
        out_checkpoint: *mut *mut hoist_checkpoint_t,
    ) -> hoist_status_t;
}
extern "C" {
    /// @brief Unmaps and frees. NULL is a no-op. @externsync @blocking @since 0.1
    pub fn hoist_checkpoint_close(checkpoint: *mut hoist_checkpoint_t);
}
extern "C" {
    /** @brief Counts the tensors.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_checkpoint_get_count(
        checkpoint: *const hoist_checkpoint_t,
        out_count: *mut u64,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Reads the facts of a tensor by index.
 @param[in,out] out_tensor struct_size is read, the rest written.
 @return HOIST_OK or HOIST_ERROR_NOT_FOUND.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_checkpoint_get_tensor(
        checkpoint: *const hoist_checkpoint_t,
        index: u64,
        out_tensor: *mut hoist_checkpoint_tensor_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Finds a tensor by name.
 @return HOIST_OK or HOIST_ERROR_NOT_FOUND with the nearest name.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_checkpoint_query(
        checkpoint: *const hoist_checkpoint_t,
        name: *const ::core::ffi::c_char,
        out_index: *mut u64,
    ) -> hoist_status_t;
}
/// Units and tensors that move under one budget.
#[repr(C)]
#[derive(Debug)]
pub struct hoist_manager_t {
    _unused: [u8; 0],
}
/// Index of a unit in its manager, from 0 in the order of adding.
pub type hoist_unit_t = u32;
/// Index of a tensor in its manager, from 0 in the order of adding; aliases share it.
pub type hoist_tensor_t = u32;
/// Options of a manager. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_manager_options_t {
    /// sizeof(hoist_manager_options_t).
    pub struct_size: usize,
    /// The budget to join; NULL: one of its own with that device's defaults. Kept alive.
    pub budget: *mut hoist_budget_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_manager_options_t",
    ][::core::mem::size_of::<hoist_manager_options_t>() - 16usize];
    [
        "Alignment of hoist_manager_options_t",
    ][::core::mem::align_of::<hoist_manager_options_t>() - 8usize];
    [
        "Offset of field: hoist_manager_options_t::struct_size",
    ][::core::mem::offset_of!(hoist_manager_options_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_manager_options_t::budget",
    ][::core::mem::offset_of!(hoist_manager_options_t, budget) - 8usize];
};
impl Default for hoist_manager_options_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl hoist_use_mode_t {
    /// Reads it.
    pub const HOIST_USE_READ: hoist_use_mode_t = hoist_use_mode_t(0);
    /// Writes all of it; what was there is not needed.
    pub const HOIST_USE_WRITE: hoist_use_mode_t = hoist_use_mode_t(1);
    /// Reads and writes.
    pub const HOIST_USE_READ_WRITE: hoist_use_mode_t = hoist_use_mode_t(2);
    /// Fixes the size of the enum.
    pub const HOIST_USE_FORCE_32: hoist_use_mode_t = hoist_use_mode_t(2147483647);
}
#[repr(transparent)]
/// What a unit does with a tensor. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_use_mode_t(pub ::core::ffi::c_uint);
impl hoist_tensor_class_t {
    /// A model's weight.
    pub const HOIST_CLASS_WEIGHT: hoist_tensor_class_t = hoist_tensor_class_t(0);
    /// An optimizer's state.
    pub const HOIST_CLASS_STATE: hoist_tensor_class_t = hoist_tensor_class_t(1);
    /// An activation.
    pub const HOIST_CLASS_ACTIVATION: hoist_tensor_class_t = hoist_tensor_class_t(2);
    /// Fixes the size of the enum.
    pub const HOIST_CLASS_FORCE_32: hoist_tensor_class_t = hoist_tensor_class_t(
        2147483647,
    );
}
#[repr(transparent)]
/// What a tensor is, for people: it names, and never changes how it moves. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_tensor_class_t(pub ::core::ffi::c_uint);
impl hoist_tensor_flags_t {
    /// Packed into pinned memory at commit; `host` may go then (see `release`).
    pub const HOIST_TENSOR_COPY: hoist_tensor_flags_t = hoist_tensor_flags_t(1);
    /**< `host` is registered where it is and stays valid until destroy. It is the host copy:
stores write into it.*/
    pub const HOIST_TENSOR_ADOPT: hoist_tensor_flags_t = hoist_tensor_flags_t(2);
    /**< Has no host bytes: does not exist before its first use in a step, which must write
it, nor after its last. `host` is NULL.*/
    pub const HOIST_TENSOR_TRANSIENT: hoist_tensor_flags_t = hoist_tensor_flags_t(4);
    /// As COPY of zeros, without a source. `host` is NULL.
    pub const HOIST_TENSOR_ZERO: hoist_tensor_flags_t = hoist_tensor_flags_t(8);
    /// Fixes the size of the enum.
    pub const HOIST_TENSOR_FLAGS_FORCE_32: hoist_tensor_flags_t = hoist_tensor_flags_t(
        2147483647,
    );
}
#[repr(transparent)]
/// How a tensor's host bytes are held. Exactly one. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_tensor_flags_t(pub ::core::ffi::c_uint);
/// Called when a tensor's bytes have been packed and `host` is not needed any more. On the committing thread.
pub type hoist_release_fn_t = ::core::option::Option<
    unsafe extern "C" fn(user_data: *mut ::core::ffi::c_void),
>;
/// A tensor to add. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_tensor_desc_t {
    /// sizeof(hoist_tensor_desc_t).
    pub struct_size: usize,
    /// Unique among the manager's names; copied.
    pub name: *const ::core::ffi::c_char,
    /// 0 is allowed.
    pub bytes: u64,
    /// Its bytes; see the flags. Only an adopted tensor's are ever written.
    pub host: *mut ::core::ffi::c_void,
    /// One of ::hoist_tensor_flags_t.
    pub flags: u32,
    /// What the unit that it is added to does with it.
    pub mode: hoist_use_mode_t,
    /// For people.
    pub tensor_class: hoist_tensor_class_t,
    /// Zero.
    pub reserved: u32,
    /// Optional, COPY only: called once, unit by unit during commit, or at destroy.
    pub release: hoist_release_fn_t,
    /// Passed to release.
    pub user_data: *mut ::core::ffi::c_void,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_tensor_desc_t",
    ][::core::mem::size_of::<hoist_tensor_desc_t>() - 64usize];
    [
        "Alignment of hoist_tensor_desc_t",
    ][::core::mem::align_of::<hoist_tensor_desc_t>() - 8usize];
    [
        "Offset of field: hoist_tensor_desc_t::struct_size",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_tensor_desc_t::name",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, name) - 8usize];
    [
        "Offset of field: hoist_tensor_desc_t::bytes",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, bytes) - 16usize];
    [
        "Offset of field: hoist_tensor_desc_t::host",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, host) - 24usize];
    [
        "Offset of field: hoist_tensor_desc_t::flags",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, flags) - 32usize];
    [
        "Offset of field: hoist_tensor_desc_t::mode",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, mode) - 36usize];
    [
        "Offset of field: hoist_tensor_desc_t::tensor_class",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, tensor_class) - 40usize];
    [
        "Offset of field: hoist_tensor_desc_t::reserved",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, reserved) - 44usize];
    [
        "Offset of field: hoist_tensor_desc_t::release",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, release) - 48usize];
    [
        "Offset of field: hoist_tensor_desc_t::user_data",
    ][::core::mem::offset_of!(hoist_tensor_desc_t, user_data) - 56usize];
};
impl Default for hoist_tensor_desc_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Creates a manager.
 @param device Where its tensors go; must be the budget's device where options name a budget. Kept alive.
 @param options NULL for all defaults.
 @param[out] out_manager The caller owns it.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_manager_create(
        device: *mut hoist_device_t,
        options: *const hoist_manager_options_t,
        out_manager: *mut *mut hoist_manager_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Waits for the manager's work and frees all it has. Dirty bytes of adopted tensors are stored first.

 An open step is given up. Failures cannot be told here: call hoist_manager_drain before. NULL is a no-op.
 @externsync @blocking @since 0.1*/
    pub fn hoist_manager_destroy(manager: *mut hoist_manager_t);
}
extern "C" {
    /** @brief Adds a unit; an empty one is fine.
 @param name Unique; copied.
 @return HOIST_OK; HOIST_ERROR_ALREADY_EXISTS; HOIST_ERROR_INVALID_STATE after commit; HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_manager_add_unit(
        manager: *mut hoist_manager_t,
        name: *const ::core::ffi::c_char,
        out_unit: *mut hoist_unit_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Says how many bytes of device memory of the user's own a unit needs beside its tensors, within the budget.
 @return As hoist_manager_add_unit; HOIST_ERROR_NOT_FOUND for an unknown unit.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_manager_set_workspace(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        bytes: u64,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Adds a tensor, used by @p unit.
 @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for flags, modes or pointers that contradict each other;
         HOIST_ERROR_ALREADY_EXISTS; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_INVALID_STATE after commit; HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_manager_add_tensor(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        desc: *const hoist_tensor_desc_t,
        out_tensor: *mut hoist_tensor_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Says that another unit uses a tensor too; it stays one item, moved and counted once.
 @return As hoist_manager_add_tensor; HOIST_ERROR_ALREADY_EXISTS where that unit uses it already.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_manager_add_use(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        tensor: hoist_tensor_t,
        mode: hoist_use_mode_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Gives a tensor a further name.
 @return As hoist_manager_add_tensor.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_manager_add_alias(
        manager: *mut hoist_manager_t,
        name: *const ::core::ffi::c_char,
        tensor: hoist_tensor_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Finds a tensor by name or alias.
 @return HOIST_OK or HOIST_ERROR_NOT_FOUND with the nearest name.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_manager_get_tensor(
        manager: *const hoist_manager_t,
        name: *const ::core::ffi::c_char,
        out_tensor: *mut hoist_tensor_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Ends building: pins and packs the host bytes unit by unit, measures the links, takes the arena.

 All managers of a budget commit before its first step. On failure everything is as before and commit may be
 tried again, bytes already released excepted: these have been packed and stay so.
 @return HOIST_OK; HOIST_ERROR_INFEASIBLE naming the smallest budget that would do; HOIST_ERROR_OUT_OF_MEMORY;
         HOIST_ERROR_INVALID_ARGUMENT for a transient that is read before it is written;
         HOIST_ERROR_INVALID_STATE when committed already.
 @externsync @blocking @since 0.1*/
    pub fn hoist_manager_commit(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    /** @brief Waits until all submitted work has run and every dirty tensor's bytes are on the host.
 @return HOIST_OK; HOIST_ERROR_DEVICE; HOIST_ERROR_INVALID_STATE within a step.
 @externsync @blocking @since 0.1*/
    pub fn hoist_manager_drain(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    /** @brief Drains, then gives the budget's device memory back. Bytes stay on the host; steps are refused.
 @return As hoist_manager_drain.
 @externsync @blocking @since 0.1*/
    pub fn hoist_manager_suspend(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    /** @brief Takes the device memory again; the same plan goes on.
 @return HOIST_OK; HOIST_ERROR_OUT_OF_MEMORY (still suspended, may be tried again); HOIST_ERROR_INVALID_STATE.
 @externsync @blocking @since 0.1*/
    pub fn hoist_manager_resume(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    /** @brief Replaces all of a tensor's bytes, between steps or between units.

 Host copy and, where it is there, device copy change; units begun later see the new bytes.
 @param src As many bytes as the tensor has; may go when the call returns.
 @param stream Units that it must come after have run on this stream.
 @return HOIST_OK; HOIST_ERROR_ORDER where a unit is open; HOIST_ERROR_INVALID_ARGUMENT for a transient or a
         wrong size; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_BUSY.
 @externsync @blocking @since 0.1*/
    pub fn hoist_tensor_update(
        manager: *mut hoist_manager_t,
        tensor: hoist_tensor_t,
        src: *const ::core::ffi::c_void,
        bytes: u64,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Reads a tensor's live bytes, wherever they are, between units; takes no device memory.
 @param dst Room for @p bytes, which must be the tensor's size.
 @return HOIST_OK; HOIST_ERROR_ORDER where a unit is open; HOIST_ERROR_INVALID_ARGUMENT for a wrong size;
         HOIST_ERROR_STALE for a transient that does not exist now; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_BUSY.
 @externsync @blocking @since 0.1*/
    pub fn hoist_tensor_read(
        manager: *mut hoist_manager_t,
        tensor: hoist_tensor_t,
        dst: *mut ::core::ffi::c_void,
        bytes: u64,
    ) -> hoist_status_t;
}
/// Facts about a tensor. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_tensor_info_t {
    /// Bytes of this struct that the caller knows. In.
    pub struct_size: usize,
    /// Its first name; lives as long as the manager.
    pub name: *const ::core::ffi::c_char,
    /// Its size.
    pub bytes: u64,
    /// The host copy; NULL for transients and before commit (adopted ones apart).
    pub host: *const ::core::ffi::c_void,
    /// Grows with every write and update.
    pub version: u64,
    /// 1 while a device copy is there or on its way.
    pub on_device: u32,
    /// 1 when the host copy is complete and not older than the device's.
    pub host_current: u32,
    /// As added.
    pub flags: u32,
    /// As added.
    pub tensor_class: hoist_tensor_class_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_tensor_info_t",
    ][::core::mem::size_of::<hoist_tensor_info_t>() - 56usize];
    [
        "Alignment of hoist_tensor_info_t",
    ][::core::mem::align_of::<hoist_tensor_info_t>() - 8usize];
    [
        "Offset of field: hoist_tensor_info_t::struct_size",
    ][::core::mem::offset_of!(hoist_tensor_info_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_tensor_info_t::name",
    ][::core::mem::offset_of!(hoist_tensor_info_t, name) - 8usize];
    [
        "Offset of field: hoist_tensor_info_t::bytes",
    ][::core::mem::offset_of!(hoist_tensor_info_t, bytes) - 16usize];
    [
        "Offset of field: hoist_tensor_info_t::host",
    ][::core::mem::offset_of!(hoist_tensor_info_t, host) - 24usize];
    [
        "Offset of field: hoist_tensor_info_t::version",
    ][::core::mem::offset_of!(hoist_tensor_info_t, version) - 32usize];
    [
        "Offset of field: hoist_tensor_info_t::on_device",
    ][::core::mem::offset_of!(hoist_tensor_info_t, on_device) - 40usize];
    [
        "Offset of field: hoist_tensor_info_t::host_current",
    ][::core::mem::offset_of!(hoist_tensor_info_t, host_current) - 44usize];
    [
        "Offset of field: hoist_tensor_info_t::flags",
    ][::core::mem::offset_of!(hoist_tensor_info_t, flags) - 48usize];
    [
        "Offset of field: hoist_tensor_info_t::tensor_class",
    ][::core::mem::offset_of!(hoist_tensor_info_t, tensor_class) - 52usize];
};
impl Default for hoist_tensor_info_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Reads facts about a tensor; moves nothing.
 @param[in,out] out_info struct_size is read, the rest written.
 @return HOIST_OK; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_tensor_query(
        manager: *const hoist_manager_t,
        tensor: hoist_tensor_t,
        out_info: *mut hoist_tensor_info_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Reads the counts and sizes of the manager's budget.
 @param[in,out] out_status struct_size is read, the rest written.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_manager_query(
        manager: *const hoist_manager_t,
        out_status: *mut hoist_budget_status_t,
    ) -> hoist_status_t;
}
/// Units, items, links and a budget. Immutable.
#[repr(C)]
#[derive(Debug)]
pub struct hoist_problem_t {
    _unused: [u8; 0],
}
/// Residency, ops and places for one problem. Immutable.
#[repr(C)]
#[derive(Debug)]
pub struct hoist_plan_t {
    _unused: [u8; 0],
}
/// Options of the planner. @since 0.1
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hoist_plan_options_t {
    /// sizeof(hoist_plan_options_t).
    pub struct_size: usize,
    /// Iterations of search; 0: the default. Part of what decides the plan.
    pub effort: u32,
    /// Zero.
    pub reserved: u32,
    /// 0: none. Past it the call ends with HOIST_ERROR_ABORTED; never a worse plan.
    pub time_limit_seconds: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_plan_options_t",
    ][::core::mem::size_of::<hoist_plan_options_t>() - 24usize];
    [
        "Alignment of hoist_plan_options_t",
    ][::core::mem::align_of::<hoist_plan_options_t>() - 8usize];
    [
        "Offset of field: hoist_plan_options_t::struct_size",
    ][::core::mem::offset_of!(hoist_plan_options_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_plan_options_t::effort",
    ][::core::mem::offset_of!(hoist_plan_options_t, effort) - 8usize];
    [
        "Offset of field: hoist_plan_options_t::reserved",
    ][::core::mem::offset_of!(hoist_plan_options_t, reserved) - 12usize];
    [
        "Offset of field: hoist_plan_options_t::time_limit_seconds",
    ][::core::mem::offset_of!(hoist_plan_options_t, time_limit_seconds) - 16usize];
};
/// What a plan comes to, predicted or simulated. Times in µs. @since 0.1
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hoist_plan_result_t {
    /// Bytes of this struct that the caller knows. In.
    pub struct_size: usize,
    /// Time of a step in the steady state (single-shot: of the whole).
    pub step_us: f64,
    /// Of it, compute waiting for bytes or places.
    pub stall_us: f64,
    /// A time that no plan can beat.
    pub bound_us: f64,
    /// A tighter such time, over windows of units.
    pub windowed_us: f64,
    /// Most device bytes of items and workspace at once.
    pub peak_bytes: u64,
    /// Bytes copied from the host in a step.
    pub h2d_bytes: u64,
    /// Bytes copied to the host in a step.
    pub d2h_bytes: u64,
    /// Bytes copied from peers in a step.
    pub peer_bytes: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_plan_result_t",
    ][::core::mem::size_of::<hoist_plan_result_t>() - 72usize];
    [
        "Alignment of hoist_plan_result_t",
    ][::core::mem::align_of::<hoist_plan_result_t>() - 8usize];
    [
        "Offset of field: hoist_plan_result_t::struct_size",
    ][::core::mem::offset_of!(hoist_plan_result_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_plan_result_t::step_us",
    ][::core::mem::offset_of!(hoist_plan_result_t, step_us) - 8usize];
    [
        "Offset of field: hoist_plan_result_t::stall_us",
    ][::core::mem::offset_of!(hoist_plan_result_t, stall_us) - 16usize];
    [
        "Offset of field: hoist_plan_result_t::bound_us",
    ][::core::mem::offset_of!(hoist_plan_result_t, bound_us) - 24usize];
    [
        "Offset of field: hoist_plan_result_t::windowed_us",
    ][::core::mem::offset_of!(hoist_plan_result_t, windowed_us) - 32usize];
    [
        "Offset of field: hoist_plan_result_t::peak_bytes",
    ][::core::mem::offset_of!(hoist_plan_result_t, peak_bytes) - 40usize];
    [
        "Offset of field: hoist_plan_result_t::h2d_bytes",
    ][::core::mem::offset_of!(hoist_plan_result_t, h2d_bytes) - 48usize];
    [
        "Offset of field: hoist_plan_result_t::d2h_bytes",
    ][::core::mem::offset_of!(hoist_plan_result_t, d2h_bytes) - 56usize];
    [
        "Offset of field: hoist_plan_result_t::peer_bytes",
    ][::core::mem::offset_of!(hoist_plan_result_t, peer_bytes) - 64usize];
};
extern "C" {
    /** @brief Reads a problem from JSON.
 @param json UTF-8, @p bytes long; read during the call only.
 @param[out] out_problem The caller owns it.
 @return HOIST_OK; HOIST_ERROR_CORRUPT naming the field and value; HOIST_ERROR_INVALID_ARGUMENT for a problem that
         contradicts itself.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_problem_import(
        json: *const ::core::ffi::c_char,
        bytes: usize,
        out_problem: *mut *mut hoist_problem_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Writes a problem as JSON.
 @param[in,out] inout_bytes In: room in @p buffer. Out: bytes written, or needed where @p buffer is NULL. No
        terminating zero.
 @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT where the room is too small (the message says how much would do).
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_problem_export(
        problem: *const hoist_problem_t,
        buffer: *mut ::core::ffi::c_char,
        inout_bytes: *mut usize,
    ) -> hoist_status_t;
}
extern "C" {
    /// @brief Frees a problem; plans made from it stay. NULL is a no-op. @threadsafe @nonblocking @since 0.1
    pub fn hoist_problem_destroy(problem: *mut hoist_problem_t);
}
extern "C" {
    /** @brief Makes a plan that is valid and never slower than the naive one.
 @param options NULL for all defaults.
 @param[out] out_plan The caller owns it.
 @return HOIST_OK; HOIST_ERROR_INFEASIBLE naming the unit, what it needs and the smallest budget that would do;
         HOIST_ERROR_ABORTED at the time limit.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_plan_solve(
        problem: *const hoist_problem_t,
        options: *const hoist_plan_options_t,
        out_plan: *mut *mut hoist_plan_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Reads a plan for a problem from JSON. Call hoist_plan_check to know whether it is valid.
 @return HOIST_OK; HOIST_ERROR_CORRUPT or HOIST_ERROR_INVALID_PLAN naming the field, item and value.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_plan_import(
        problem: *const hoist_problem_t,
        json: *const ::core::ffi::c_char,
        bytes: usize,
        out_plan: *mut *mut hoist_plan_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Writes a plan as JSON; buffer rules as in hoist_problem_export.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_plan_export(
        plan: *const hoist_plan_t,
        buffer: *mut ::core::ffi::c_char,
        inout_bytes: *mut usize,
    ) -> hoist_status_t;
}
extern "C" {
    /// @brief Frees a plan. NULL is a no-op. @threadsafe @nonblocking @since 0.1
    pub fn hoist_plan_destroy(plan: *mut hoist_plan_t);
}
extern "C" {
    /** @brief Checks a plan against a problem: digest, total order, places, and the rules of execution.
 @return HOIST_OK or HOIST_ERROR_INVALID_PLAN naming the op or unit and why.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_plan_check(
        problem: *const hoist_problem_t,
        plan: *const hoist_plan_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Runs a plan by the rules of execution, without a device.
 @param trace_path NULL, or where to write a Chrome trace of the last simulated step.
 @param[in,out] out_result struct_size is read, the rest written.
 @return HOIST_OK; HOIST_ERROR_INVALID_PLAN; HOIST_ERROR_IO.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_plan_simulate(
        problem: *const hoist_problem_t,
        plan: *const hoist_plan_t,
        trace_path: *const ::core::ffi::c_char,
        out_result: *mut hoist_plan_result_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Gives times that no plan of the problem can beat, and the bytes that must cross.
 @param[in,out] out_result struct_size is read; step_us is the bound, bytes are the least ones, the rest 0.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_plan_bound(
        problem: *const hoist_problem_t,
        out_result: *mut hoist_plan_result_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Says for every item, one line each, why it stays or moves; buffer rules as in hoist_problem_export.
 @threadsafe @blocking @since 0.1*/
    pub fn hoist_plan_explain(
        problem: *const hoist_problem_t,
        plan: *const hoist_plan_t,
        buffer: *mut ::core::ffi::c_char,
        inout_bytes: *mut usize,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Gives the manager's present problem: measured units and links, its budget.
 @param[out] out_problem A snapshot that the caller owns.
 @return HOIST_OK; HOIST_ERROR_INVALID_STATE before the first plan; HOIST_ERROR_BUSY.
 @externsync @blocking @since 0.1*/
    pub fn hoist_manager_get_problem(
        manager: *mut hoist_manager_t,
        out_problem: *mut *mut hoist_problem_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Gives the plan that the manager serves.
 @param[out] out_plan A snapshot that the caller owns, for the problem of hoist_manager_get_problem.
 @return As hoist_manager_get_problem.
 @externsync @blocking @since 0.1*/
    pub fn hoist_manager_get_plan(
        manager: *mut hoist_manager_t,
        out_plan: *mut *mut hoist_plan_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Asks for another plan; the next step's begin swaps it in, whole or not at all.

 With NULL and NULL the manager plans anew from what it has measured since. With a problem and a plan of the
 caller's: the problem must have the manager's units, items, sizes and alignment, and a budget within its own;
 times may differ. Everything is checked here, and the old plan goes on where anything fails.
 @return HOIST_OK; HOIST_ERROR_INVALID_PLAN; HOIST_ERROR_INVALID_ARGUMENT for a problem that is not the manager's,
         naming the first difference; HOIST_ERROR_INFEASIBLE; HOIST_ERROR_OUT_OF_MEMORY;
         HOIST_ERROR_INVALID_STATE before discovery has ended, or within a step; HOIST_ERROR_BUSY.
 @externsync @blocking @since 0.1*/
    pub fn hoist_replan_request(
        manager: *mut hoist_manager_t,
        problem: *const hoist_problem_t,
        plan: *const hoist_plan_t,
    ) -> hoist_status_t;
}
impl hoist_replan_state_t {
    /// None was asked for, or the last one is done.
    pub const HOIST_REPLAN_NONE: hoist_replan_state_t = hoist_replan_state_t(0);
    /// The next step's begin will swap.
    pub const HOIST_REPLAN_PENDING: hoist_replan_state_t = hoist_replan_state_t(1);
    /// The last one has been swapped in.
    pub const HOIST_REPLAN_APPLIED: hoist_replan_state_t = hoist_replan_state_t(2);
    /// The last one failed; the old plan goes on.
    pub const HOIST_REPLAN_FAILED: hoist_replan_state_t = hoist_replan_state_t(3);
    /// Fixes the size of the enum.
    pub const HOIST_REPLAN_FORCE_32: hoist_replan_state_t = hoist_replan_state_t(
        2147483647,
    );
}
#[repr(transparent)]
/// What became of a replan. @since 0.1
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_replan_state_t(pub ::core::ffi::c_uint);
/// How replans stand; reading changes nothing. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_replan_status_t {
    /// Bytes of this struct that the caller knows. In.
    pub struct_size: usize,
    /// Of the last request.
    pub state: hoist_replan_state_t,
    /// 1 where hoist_replan_request would be taken now.
    pub can_request: u32,
    /// Replans swapped in so far.
    pub applied: u64,
    /// Why the last one failed, or ""; valid until the manager's next call.
    pub reason: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_replan_status_t",
    ][::core::mem::size_of::<hoist_replan_status_t>() - 32usize];
    [
        "Alignment of hoist_replan_status_t",
    ][::core::mem::align_of::<hoist_replan_status_t>() - 8usize];
    [
        "Offset of field: hoist_replan_status_t::struct_size",
    ][::core::mem::offset_of!(hoist_replan_status_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_replan_status_t::state",
    ][::core::mem::offset_of!(hoist_replan_status_t, state) - 8usize];
    [
        "Offset of field: hoist_replan_status_t::can_request",
    ][::core::mem::offset_of!(hoist_replan_status_t, can_request) - 12usize];
    [
        "Offset of field: hoist_replan_status_t::applied",
    ][::core::mem::offset_of!(hoist_replan_status_t, applied) - 16usize];
    [
        "Offset of field: hoist_replan_status_t::reason",
    ][::core::mem::offset_of!(hoist_replan_status_t, reason) - 24usize];
};
impl Default for hoist_replan_status_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Reads how replans stand.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_replan_query(
        manager: *const hoist_manager_t,
        out_status: *mut hoist_replan_status_t,
    ) -> hoist_status_t;
}
/// A tensor on the device, during its unit. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_tensor_view_t {
    /// Device pointer, aligned to the device's alignment. Ordered on the unit's stream.
    pub data: *mut ::core::ffi::c_void,
    /// Its size.
    pub bytes: u64,
    /// Which one.
    pub tensor: hoist_tensor_t,
    /// What the unit said that it does with it.
    pub mode: hoist_use_mode_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_tensor_view_t",
    ][::core::mem::size_of::<hoist_tensor_view_t>() - 24usize];
    [
        "Alignment of hoist_tensor_view_t",
    ][::core::mem::align_of::<hoist_tensor_view_t>() - 8usize];
    [
        "Offset of field: hoist_tensor_view_t::data",
    ][::core::mem::offset_of!(hoist_tensor_view_t, data) - 0usize];
    [
        "Offset of field: hoist_tensor_view_t::bytes",
    ][::core::mem::offset_of!(hoist_tensor_view_t, bytes) - 8usize];
    [
        "Offset of field: hoist_tensor_view_t::tensor",
    ][::core::mem::offset_of!(hoist_tensor_view_t, tensor) - 16usize];
    [
        "Offset of field: hoist_tensor_view_t::mode",
    ][::core::mem::offset_of!(hoist_tensor_view_t, mode) - 20usize];
};
impl Default for hoist_tensor_view_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// A unit's tensors, in the order in which uses were added. Belongs to the manager until the unit's end. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_unit_view_t {
    /// Bytes of this struct that the caller knows. In.
    pub struct_size: usize,
    /// Tensors.
    pub count: usize,
    /// Bytes from one ::hoist_tensor_view_t to the next.
    pub stride: usize,
    /// The first. NULL for none.
    pub tensors: *const hoist_tensor_view_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hoist_unit_view_t"][::core::mem::size_of::<hoist_unit_view_t>() - 32usize];
    [
        "Alignment of hoist_unit_view_t",
    ][::core::mem::align_of::<hoist_unit_view_t>() - 8usize];
    [
        "Offset of field: hoist_unit_view_t::struct_size",
    ][::core::mem::offset_of!(hoist_unit_view_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_unit_view_t::count",
    ][::core::mem::offset_of!(hoist_unit_view_t, count) - 8usize];
    [
        "Offset of field: hoist_unit_view_t::stride",
    ][::core::mem::offset_of!(hoist_unit_view_t, stride) - 16usize];
    [
        "Offset of field: hoist_unit_view_t::tensors",
    ][::core::mem::offset_of!(hoist_unit_view_t, tensors) - 24usize];
};
impl Default for hoist_unit_view_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Begins a step of the manager's budget.

 Waits on the host where more than run_ahead_steps are in flight. A requested plan is swapped in here.
 @param stream Of the same device; the step's work is ordered on it until a unit names another.
 @return HOIST_OK; HOIST_ERROR_INVALID_STATE (not committed, suspended, a step is open); HOIST_ERROR_DEVICE;
         HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_step_begin(
        manager: *mut hoist_manager_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Begins a unit: the stream waits, on the device, for the unit's bytes.

 A unit other than the planned next one is served by loading on demand, and counted.
 @param[in,out] out_view struct_size is read; device pointers, good until the unit's end.
 @return HOIST_OK; HOIST_ERROR_ORDER where a unit is open or no step is; HOIST_ERROR_NOT_FOUND;
         HOIST_ERROR_STALE where it reads a transient that this step has not written;
         HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_unit_begin(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        stream: *mut hoist_stream_t,
        out_view: *mut hoist_unit_view_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Ends a unit: once the stream gets here its places may be refilled and its writes stored.
 @param stream The one that the unit began on.
 @return HOIST_OK; HOIST_ERROR_ORDER where another unit or none is open; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_unit_end(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Ends the step; units that did not run count as skipped.
 @return HOIST_OK; HOIST_ERROR_ORDER where a unit or no step is open; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_step_end(
        manager: *mut hoist_manager_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Gives the step up after an error in the user's compute.

 An open unit counts as ended with its writes done, the rest as skipped. The next step goes on as usual.
 @return HOIST_OK; HOIST_ERROR_ORDER where no step is open; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_step_abort(
        manager: *mut hoist_manager_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Starts recording the manager's budget: one event pair an op, kept up to @p event_limit intervals.

 Recording allocates; it is off by default. What does not fit any more is counted and reported in the export.
 @param event_limit Most intervals kept; 0: 1,000,000.
 @return HOIST_OK; HOIST_ERROR_INVALID_STATE within a step or when recording already; HOIST_ERROR_BUSY.
 @externsync @nonblocking @since 0.1*/
    pub fn hoist_trace_begin(
        manager: *mut hoist_manager_t,
        event_limit: u64,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Ends recording, waits for recorded work and writes Chrome trace JSON, which Perfetto opens.

 Rows: compute, waits, h2d, d2h; each interval names its unit or tensor, bytes, step and reason.
 @param path File to write; NULL drops what was recorded.
 @return HOIST_OK; HOIST_ERROR_IO (what was recorded is kept: try another path); HOIST_ERROR_INVALID_STATE within a
         step or when not recording; HOIST_ERROR_BUSY.
 @externsync @blocking @since 0.1*/
    pub fn hoist_trace_end(
        manager: *mut hoist_manager_t,
        path: *const ::core::ffi::c_char,
    ) -> hoist_status_t;
}
extern "C" {
    /** @brief Returns the version of the loaded library, such as "0.1.0".
 @return A static string, never NULL.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_version_string() -> *const ::core::ffi::c_char;
}
extern "C" {
    /** @brief Returns the highest ABI level that the loaded library serves.
 @return A number of at least 1; compare it with HOIST_ABI_VERSION.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_version_abi() -> u32;
}
/// What hoist offers to a device. Valid for the life of the process. @since 0.1
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hoist_device_services_t {
    /// Bytes of this struct.
    pub struct_size: usize,
    /// Level of hoist.
    pub abi_version: u32,
    /// Zero.
    pub reserved: u32,
    /// Sets the calling thread's error text: what happened, and what would do ("" where unknown).
    pub error_set: ::core::option::Option<
        unsafe extern "C" fn(
            code: hoist_status_t,
            message: *const ::core::ffi::c_char,
            hint: *const ::core::ffi::c_char,
        ),
    >,
    /// Says something to the log.
    pub log: ::core::option::Option<
        unsafe extern "C" fn(
            level: hoist_log_level_t,
            message: *const ::core::ffi::c_char,
        ),
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_device_services_t",
    ][::core::mem::size_of::<hoist_device_services_t>() - 32usize];
    [
        "Alignment of hoist_device_services_t",
    ][::core::mem::align_of::<hoist_device_services_t>() - 8usize];
    [
        "Offset of field: hoist_device_services_t::struct_size",
    ][::core::mem::offset_of!(hoist_device_services_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_device_services_t::abi_version",
    ][::core::mem::offset_of!(hoist_device_services_t, abi_version) - 8usize];
    [
        "Offset of field: hoist_device_services_t::reserved",
    ][::core::mem::offset_of!(hoist_device_services_t, reserved) - 12usize];
    [
        "Offset of field: hoist_device_services_t::error_set",
    ][::core::mem::offset_of!(hoist_device_services_t, error_set) - 16usize];
    [
        "Offset of field: hoist_device_services_t::log",
    ][::core::mem::offset_of!(hoist_device_services_t, log) - 24usize];
};
/// The table. Zero-initialise it, fill in what the device has. @since 0.1
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_device_ops_t {
    /// sizeof(hoist_device_ops_t) of the author's headers.
    pub struct_size: usize,
    /// HOIST_DEVICE_ABI_VERSION of the author's headers.
    pub abi_version: u32,
    /// Zero.
    pub reserved: u32,
    /// Kind, such as "host": lower-case letters, digits, underscore. Static.
    pub name: *const ::core::ffi::c_char,
    /// Passed to count and open.
    pub driver: *mut ::core::ffi::c_void,
    #[doc = " ---- driver ---- */\n/** Required. How many devices there are; 0 where the hardware or its driver is missing."]
    pub count: ::core::option::Option<
        unsafe extern "C" fn(
            driver: *mut ::core::ffi::c_void,
            out_count: *mut u32,
        ) -> hoist_status_t,
    >,
    /// Required; may block. Opens device `index`; `options` is "key=value&key=value" or "".
    pub open: ::core::option::Option<
        unsafe extern "C" fn(
            driver: *mut ::core::ffi::c_void,
            index: u32,
            options: *const ::core::ffi::c_char,
            out_self: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    /// Required; may block. Called once, when nothing uses the device any more.
    pub close: ::core::option::Option<
        unsafe extern "C" fn(self_: *mut ::core::ffi::c_void),
    >,
    /// Required. Fills every field but struct_size.
    pub query: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_properties: *mut hoist_device_properties_t,
        ) -> hoist_status_t,
    >,
    /// Required. Free and total device memory in bytes.
    pub query_memory: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_free: *mut u64,
            out_total: *mut u64,
        ) -> hoist_status_t,
    >,
    /// Optional. Changes a setting of the open device.
    pub set: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            key: *const ::core::ffi::c_char,
            value: *const ::core::ffi::c_char,
        ) -> hoist_status_t,
    >,
    /// Required. A clock that runs as that of events does, in µs; where it starts is the device's choice.
    pub get_time: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_us: *mut f64,
        ) -> hoist_status_t,
    >,
    #[doc = " ---- memory ---- */\n/** Required; may block. Aligned to the properties' alignment; HOIST_ERROR_OUT_OF_MEMORY when refused."]
    pub memory_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            bytes: u64,
            out_memory: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    /// Required; may block. Nothing uses it any more.
    pub memory_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
        ),
    >,
    /** Required; may block. Makes touched host memory fit for asynchronous copies (pins it).
 HOIST_ERROR_ALREADY_EXISTS: somebody pinned it before, or a part of it. HOIST_ERROR_UNSUPPORTED: it cannot be
 pinned, and copies work without. Either way hoist goes on; other failures fail the caller.*/
    pub host_register: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    /// Required; may block. Undoes host_register of exactly that range.
    pub host_unregister: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    #[doc = " ---- streams ---- */\n/** Required; may block."]
    pub stream_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_stream: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    /// Required; may block. Waits for the stream's work; a wrapped stream itself stays the user's.
    pub stream_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
        ),
    >,
    /// Optional (HOIST_CAPABILITY_WRAP). A handle for the user's native stream.
    pub stream_wrap: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            native: *mut ::core::ffi::c_void,
            out_stream: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    /// Required; blocks until all submitted work has run. Several threads may wait for one stream.
    pub stream_wait: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    /// Required. The stream waits on the device for the event's latest recording at the time of this call.
    pub stream_wait_event: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    #[doc = " ---- events ---- */\n/** Required. Events can be timed."]
    pub event_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_event: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    /// Required. Submitted work that waits for it still runs.
    pub event_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
        ),
    >,
    /// Required. Records at the stream's present end.
    pub event_record: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    /// Required. 1 when the latest recording has been reached, else 0. An event never recorded is not ready.
    pub event_poll: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
            out_ready: *mut ::core::ffi::c_int,
        ) -> hoist_status_t,
    >,
    /// Required; blocks until the latest recording has been reached. Several threads may wait for one event.
    pub event_wait: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    /// Required. µs from `begin` to `end`, both reached.
    pub event_get_elapsed: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            begin: *mut ::core::ffi::c_void,
            end: *mut ::core::ffi::c_void,
            out_us: *mut f64,
        ) -> hoist_status_t,
    >,
    #[doc = " ---- work ---- */\n/** Required. At least one byte; host memory is registered, or the copy may be slow and may block."]
    pub copy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            kind: hoist_copy_kind_t,
            dst: *mut ::core::ffi::c_void,
            src: *const ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    /// Optional (HOIST_CAPABILITY_BATCH). `count` independent copies of one kind, none of zero bytes.
    pub copy_batch: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            kind: hoist_copy_kind_t,
            count: u64,
            dst: *const *mut ::core::ffi::c_void,
            src: *const *const ::core::ffi::c_void,
            bytes: *const u64,
        ) -> hoist_status_t,
    >,
    /// Required. At least one byte of device memory.
    pub fill: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            dst: *mut ::core::ffi::c_void,
            value: u8,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    /// Required. Runs `function` in stream order on a thread of the device.
    pub host_function: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            function: hoist_host_fn_t,
            user_data: *mut ::core::ffi::c_void,
            modelled_us: f64,
        ) -> hoist_status_t,
    >,
    #[doc = " ---- access from host functions (HOIST_CAPABILITY_ACCESS) ---- */\n/** Optional. In stream order: the pages of [memory, memory + bytes) open for host functions; counted."]
    pub access_begin: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    /// Optional. In stream order: undoes one access_begin of the same range.
    pub access_end: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_device_ops_t",
    ][::core::mem::size_of::<hoist_device_ops_t>() - 256usize];
    [
        "Alignment of hoist_device_ops_t",
    ][::core::mem::align_of::<hoist_device_ops_t>() - 8usize];
    [
        "Offset of field: hoist_device_ops_t::struct_size",
    ][::core::mem::offset_of!(hoist_device_ops_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_device_ops_t::abi_version",
    ][::core::mem::offset_of!(hoist_device_ops_t, abi_version) - 8usize];
    [
        "Offset of field: hoist_device_ops_t::reserved",
    ][::core::mem::offset_of!(hoist_device_ops_t, reserved) - 12usize];
    [
        "Offset of field: hoist_device_ops_t::name",
    ][::core::mem::offset_of!(hoist_device_ops_t, name) - 16usize];
    [
        "Offset of field: hoist_device_ops_t::driver",
    ][::core::mem::offset_of!(hoist_device_ops_t, driver) - 24usize];
    [
        "Offset of field: hoist_device_ops_t::count",
    ][::core::mem::offset_of!(hoist_device_ops_t, count) - 32usize];
    [
        "Offset of field: hoist_device_ops_t::open",
    ][::core::mem::offset_of!(hoist_device_ops_t, open) - 40usize];
    [
        "Offset of field: hoist_device_ops_t::close",
    ][::core::mem::offset_of!(hoist_device_ops_t, close) - 48usize];
    [
        "Offset of field: hoist_device_ops_t::query",
    ][::core::mem::offset_of!(hoist_device_ops_t, query) - 56usize];
    [
        "Offset of field: hoist_device_ops_t::query_memory",
    ][::core::mem::offset_of!(hoist_device_ops_t, query_memory) - 64usize];
    [
        "Offset of field: hoist_device_ops_t::set",
    ][::core::mem::offset_of!(hoist_device_ops_t, set) - 72usize];
    [
        "Offset of field: hoist_device_ops_t::get_time",
    ][::core::mem::offset_of!(hoist_device_ops_t, get_time) - 80usize];
    [
        "Offset of field: hoist_device_ops_t::memory_create",
    ][::core::mem::offset_of!(hoist_device_ops_t, memory_create) - 88usize];
    [
        "Offset of field: hoist_device_ops_t::memory_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, memory_destroy) - 96usize];
    [
        "Offset of field: hoist_device_ops_t::host_register",
    ][::core::mem::offset_of!(hoist_device_ops_t, host_register) - 104usize];
    [
        "Offset of field: hoist_device_ops_t::host_unregister",
    ][::core::mem::offset_of!(hoist_device_ops_t, host_unregister) - 112usize];
    [
        "Offset of field: hoist_device_ops_t::stream_create",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_create) - 120usize];
    [
        "Offset of field: hoist_device_ops_t::stream_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_destroy) - 128usize];
    [
        "Offset of field: hoist_device_ops_t::stream_wrap",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_wrap) - 136usize];
    [
        "Offset of field: hoist_device_ops_t::stream_wait",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_wait) - 144usize];
    [
        "Offset of field: hoist_device_ops_t::stream_wait_event",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_wait_event) - 152usize];
    [
        "Offset of field: hoist_device_ops_t::event_create",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_create) - 160usize];
    [
        "Offset of field: hoist_device_ops_t::event_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_destroy) - 168usize];
    [
        "Offset of field: hoist_device_ops_t::event_record",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_record) - 176usize];
    [
        "Offset of field: hoist_device_ops_t::event_poll",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_poll) - 184usize];
    [
        "Offset of field: hoist_device_ops_t::event_wait",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_wait) - 192usize];
    [
        "Offset of field: hoist_device_ops_t::event_get_elapsed",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_get_elapsed) - 200usize];
    [
        "Offset of field: hoist_device_ops_t::copy",
    ][::core::mem::offset_of!(hoist_device_ops_t, copy) - 208usize];
    [
        "Offset of field: hoist_device_ops_t::copy_batch",
    ][::core::mem::offset_of!(hoist_device_ops_t, copy_batch) - 216usize];
    [
        "Offset of field: hoist_device_ops_t::fill",
    ][::core::mem::offset_of!(hoist_device_ops_t, fill) - 224usize];
    [
        "Offset of field: hoist_device_ops_t::host_function",
    ][::core::mem::offset_of!(hoist_device_ops_t, host_function) - 232usize];
    [
        "Offset of field: hoist_device_ops_t::access_begin",
    ][::core::mem::offset_of!(hoist_device_ops_t, access_begin) - 240usize];
    [
        "Offset of field: hoist_device_ops_t::access_end",
    ][::core::mem::offset_of!(hoist_device_ops_t, access_end) - 248usize];
};
impl Default for hoist_device_ops_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    /** @brief Registers a kind of device.
 @param ops Copied over the stubs; its name must not be taken. `name` and `driver` stay valid for ever.
 @param[out] out_services What the device may call.
 @return HOIST_OK; HOIST_ERROR_ALREADY_EXISTS; HOIST_ERROR_INVALID_ARGUMENT naming the required slot that is
         missing, or a table that is cut short or comes from the future.
 @threadsafe @nonblocking @since 0.1*/
    pub fn hoist_device_register(
        ops: *const hoist_device_ops_t,
        out_services: *mut *const hoist_device_services_t,
    ) -> hoist_status_t;
}
