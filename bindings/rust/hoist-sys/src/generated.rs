// SPDX-License-Identifier: Apache-2.0
// Written by hoist-bindgen from include/hoist; a test checks that it is up to date.

pub const HOIST_PROFILE_STEPS_NONE: u32 = 4294967295;
pub const HOIST_CHECKPOINT_RANK_MAX: u32 = 16;
pub const HOIST_EFFECT_COUNT_MAX: u32 = 16777214;
pub const HOIST_VERSION_MAJOR: u32 = 0;
pub const HOIST_VERSION_MINOR: u32 = 1;
pub const HOIST_VERSION_PATCH: u32 = 0;
pub const HOIST_ABI_VERSION: u32 = 1;
pub const HOIST_DEVICE_ABI_VERSION: u32 = 1;
impl hoist_status_t {
    pub const HOIST_OK: hoist_status_t = hoist_status_t(0);
    pub const HOIST_ERROR_INVALID_ARGUMENT: hoist_status_t = hoist_status_t(1);
    pub const HOIST_ERROR_INVALID_STATE: hoist_status_t = hoist_status_t(2);
    pub const HOIST_ERROR_NOT_FOUND: hoist_status_t = hoist_status_t(3);
    pub const HOIST_ERROR_ALREADY_EXISTS: hoist_status_t = hoist_status_t(4);
    pub const HOIST_ERROR_UNSUPPORTED: hoist_status_t = hoist_status_t(5);
    pub const HOIST_ERROR_OUT_OF_MEMORY: hoist_status_t = hoist_status_t(6);
    pub const HOIST_ERROR_INFEASIBLE: hoist_status_t = hoist_status_t(7);
    pub const HOIST_ERROR_BUSY: hoist_status_t = hoist_status_t(8);
    pub const HOIST_ERROR_ORDER: hoist_status_t = hoist_status_t(9);
    pub const HOIST_ERROR_STALE: hoist_status_t = hoist_status_t(10);
    pub const HOIST_ERROR_FORKED: hoist_status_t = hoist_status_t(11);
    pub const HOIST_ERROR_IO: hoist_status_t = hoist_status_t(12);
    pub const HOIST_ERROR_CORRUPT: hoist_status_t = hoist_status_t(13);
    pub const HOIST_ERROR_INVALID_PLAN: hoist_status_t = hoist_status_t(14);
    pub const HOIST_ERROR_DEVICE: hoist_status_t = hoist_status_t(15);
    pub const HOIST_ERROR_ABORTED: hoist_status_t = hoist_status_t(16);
    pub const HOIST_ERROR_INTERNAL: hoist_status_t = hoist_status_t(17);
    pub const HOIST_STATUS_FORCE_32: hoist_status_t = hoist_status_t(2147483647);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_status_t(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_error_t {
    pub struct_size: usize,
    pub code: hoist_status_t,
    pub reserved: u32,
    pub message: *const ::core::ffi::c_char,
    pub where_: *const ::core::ffi::c_char,
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
    pub fn hoist_status_string(status: hoist_status_t) -> *const ::core::ffi::c_char;
}
extern "C" {
    pub fn hoist_last_error(out_error: *mut hoist_error_t) -> hoist_status_t;
}
impl hoist_log_level_t {
    pub const HOIST_LOG_DEBUG: hoist_log_level_t = hoist_log_level_t(0);
    pub const HOIST_LOG_INFO: hoist_log_level_t = hoist_log_level_t(1);
    pub const HOIST_LOG_WARNING: hoist_log_level_t = hoist_log_level_t(2);
    pub const HOIST_LOG_ERROR: hoist_log_level_t = hoist_log_level_t(3);
    pub const HOIST_LOG_OFF: hoist_log_level_t = hoist_log_level_t(4);
    pub const HOIST_LOG_FORCE_32: hoist_log_level_t = hoist_log_level_t(2147483647);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_log_level_t(pub ::core::ffi::c_uint);
pub type hoist_log_fn_t = ::core::option::Option<
    unsafe extern "C" fn(
        user_data: *mut ::core::ffi::c_void,
        level: hoist_log_level_t,
        message: *const ::core::ffi::c_char,
    ),
>;
extern "C" {
    pub fn hoist_log_set(
        threshold: hoist_log_level_t,
        callback: hoist_log_fn_t,
        user_data: *mut ::core::ffi::c_void,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_device_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_stream_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_event_t {
    _unused: [u8; 0],
}
impl hoist_capability_t {
    pub const HOIST_CAPABILITY_HOST_ADDRESSABLE: hoist_capability_t = hoist_capability_t(
        1,
    );
    pub const HOIST_CAPABILITY_ASYNC: hoist_capability_t = hoist_capability_t(2);
    pub const HOIST_CAPABILITY_BATCH: hoist_capability_t = hoist_capability_t(4);
    pub const HOIST_CAPABILITY_WRAP: hoist_capability_t = hoist_capability_t(8);
    pub const HOIST_CAPABILITY_ACCESS: hoist_capability_t = hoist_capability_t(16);
    pub const HOIST_CAPABILITY_VIRTUAL_CLOCK: hoist_capability_t = hoist_capability_t(
        32,
    );
    pub const HOIST_CAPABILITY_NO_BYTES: hoist_capability_t = hoist_capability_t(64);
    pub const HOIST_CAPABILITY_REMAP: hoist_capability_t = hoist_capability_t(128);
    pub const HOIST_CAPABILITY_WORDS: hoist_capability_t = hoist_capability_t(256);
    pub const HOIST_CAPABILITY_GRAPH: hoist_capability_t = hoist_capability_t(512);
    pub const HOIST_CAPABILITY_FORCE_32: hoist_capability_t = hoist_capability_t(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_capability_t(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_device_properties_t {
    pub struct_size: usize,
    pub name: [::core::ffi::c_char; 64usize],
    pub description: [::core::ffi::c_char; 128usize],
    pub memory_bytes: u64,
    pub alignment: u64,
    pub capabilities: u64,
    pub granularity: u64,
    pub dlpack_type: i32,
    pub dlpack_index: i32,
    pub pci_address: [::core::ffi::c_char; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_device_properties_t",
    ][::core::mem::size_of::<hoist_device_properties_t>() - 256usize];
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
    [
        "Offset of field: hoist_device_properties_t::granularity",
    ][::core::mem::offset_of!(hoist_device_properties_t, granularity) - 224usize];
    [
        "Offset of field: hoist_device_properties_t::dlpack_type",
    ][::core::mem::offset_of!(hoist_device_properties_t, dlpack_type) - 232usize];
    [
        "Offset of field: hoist_device_properties_t::dlpack_index",
    ][::core::mem::offset_of!(hoist_device_properties_t, dlpack_index) - 236usize];
    [
        "Offset of field: hoist_device_properties_t::pci_address",
    ][::core::mem::offset_of!(hoist_device_properties_t, pci_address) - 240usize];
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
    pub const HOIST_COPY_H2D: hoist_copy_kind_t = hoist_copy_kind_t(0);
    pub const HOIST_COPY_D2H: hoist_copy_kind_t = hoist_copy_kind_t(1);
    pub const HOIST_COPY_D2D: hoist_copy_kind_t = hoist_copy_kind_t(2);
    pub const HOIST_COPY_KIND_FORCE_32: hoist_copy_kind_t = hoist_copy_kind_t(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_copy_kind_t(pub ::core::ffi::c_uint);
pub type hoist_host_fn_t = ::core::option::Option<
    unsafe extern "C" fn(user_data: *mut ::core::ffi::c_void),
>;
extern "C" {
    pub fn hoist_device_count(out_count: *mut u32) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_device_get_properties(
        index: u32,
        out_properties: *mut hoist_device_properties_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_device_open(
        name: *const ::core::ffi::c_char,
        out_device: *mut *mut hoist_device_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_device_close(device: *mut hoist_device_t);
}
extern "C" {
    pub fn hoist_device_query(
        device: *const hoist_device_t,
        out_properties: *mut hoist_device_properties_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_device_query_memory(
        device: *const hoist_device_t,
        out_free: *mut u64,
        out_total: *mut u64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_device_set(
        device: *mut hoist_device_t,
        key: *const ::core::ffi::c_char,
        value: *const ::core::ffi::c_char,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_device_get_time(
        device: *const hoist_device_t,
        out_us: *mut f64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_memory_create(
        device: *mut hoist_device_t,
        bytes: u64,
        out_memory: *mut *mut ::core::ffi::c_void,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_memory_destroy(
        device: *mut hoist_device_t,
        memory: *mut ::core::ffi::c_void,
    );
}
extern "C" {
    pub fn hoist_stream_create(
        device: *mut hoist_device_t,
        out_stream: *mut *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_stream_wrap(
        device: *mut hoist_device_t,
        native: *mut ::core::ffi::c_void,
        out_stream: *mut *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_stream_destroy(stream: *mut hoist_stream_t);
}
extern "C" {
    pub fn hoist_stream_wait(stream: *mut hoist_stream_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_stream_wait_event(
        stream: *mut hoist_stream_t,
        event: *mut hoist_event_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_stream_submit_copy(
        stream: *mut hoist_stream_t,
        kind: hoist_copy_kind_t,
        dst: *mut ::core::ffi::c_void,
        src: *const ::core::ffi::c_void,
        bytes: u64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_stream_submit_fill(
        stream: *mut hoist_stream_t,
        dst: *mut ::core::ffi::c_void,
        value: u8,
        bytes: u64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_stream_submit_host(
        stream: *mut hoist_stream_t,
        function: hoist_host_fn_t,
        user_data: *mut ::core::ffi::c_void,
        modelled_us: f64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_event_create(
        device: *mut hoist_device_t,
        out_event: *mut *mut hoist_event_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_event_destroy(event: *mut hoist_event_t);
}
extern "C" {
    pub fn hoist_event_record(
        event: *mut hoist_event_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_event_poll(
        event: *mut hoist_event_t,
        out_ready: *mut ::core::ffi::c_int,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_event_wait(event: *mut hoist_event_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_event_get_elapsed(
        begin: *const hoist_event_t,
        end: *const hoist_event_t,
        out_us: *mut f64,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_budget_t {
    _unused: [u8; 0],
}
impl hoist_switch_t {
    pub const HOIST_SWITCH_DEFAULT: hoist_switch_t = hoist_switch_t(0);
    pub const HOIST_SWITCH_OFF: hoist_switch_t = hoist_switch_t(1);
    pub const HOIST_SWITCH_ON: hoist_switch_t = hoist_switch_t(2);
    pub const HOIST_SWITCH_FORCE_32: hoist_switch_t = hoist_switch_t(2147483647);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_switch_t(pub ::core::ffi::c_uint);
impl hoist_placement_t {
    pub const HOIST_PLACEMENT_DEFAULT: hoist_placement_t = hoist_placement_t(0);
    pub const HOIST_PLACEMENT_ARENA: hoist_placement_t = hoist_placement_t(1);
    pub const HOIST_PLACEMENT_SLOTS: hoist_placement_t = hoist_placement_t(2);
    pub const HOIST_PLACEMENT_FORCE_32: hoist_placement_t = hoist_placement_t(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_placement_t(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_budget_options_t {
    pub struct_size: usize,
    pub budget_bytes: u64,
    pub budget_share: f64,
    pub pinned_limit_bytes: u64,
    pub profile_steps: u32,
    pub run_ahead_steps: u32,
    pub plan_effort: u32,
    pub trust: hoist_switch_t,
    pub placement: hoist_placement_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_budget_options_t",
    ][::core::mem::size_of::<hoist_budget_options_t>() - 56usize];
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
    [
        "Offset of field: hoist_budget_options_t::placement",
    ][::core::mem::offset_of!(hoist_budget_options_t, placement) - 48usize];
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
    pub fn hoist_budget_options_init(
        out_options: *mut hoist_budget_options_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_budget_options_set(
        options: *mut hoist_budget_options_t,
        key: *const ::core::ffi::c_char,
        value: *const ::core::ffi::c_char,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_budget_create(
        device: *mut hoist_device_t,
        options: *const hoist_budget_options_t,
        out_budget: *mut *mut hoist_budget_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_budget_destroy(budget: *mut hoist_budget_t);
}
extern "C" {
    pub fn hoist_budget_set(
        budget: *mut hoist_budget_t,
        budget_bytes: u64,
        budget_share: f64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_budget_reserve(
        budget: *mut hoist_budget_t,
        bytes: u64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_budget_release(
        budget: *mut hoist_budget_t,
        bytes: u64,
    ) -> hoist_status_t;
}
impl hoist_phase_t {
    pub const HOIST_PHASE_BUILDING: hoist_phase_t = hoist_phase_t(0);
    pub const HOIST_PHASE_DISCOVERY: hoist_phase_t = hoist_phase_t(1);
    pub const HOIST_PHASE_PROFILING: hoist_phase_t = hoist_phase_t(2);
    pub const HOIST_PHASE_SERVING: hoist_phase_t = hoist_phase_t(3);
    pub const HOIST_PHASE_SUSPENDED: hoist_phase_t = hoist_phase_t(4);
    pub const HOIST_PHASE_FORCE_32: hoist_phase_t = hoist_phase_t(2147483647);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_phase_t(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_budget_status_t {
    pub struct_size: usize,
    pub phase: hoist_phase_t,
    pub unit_count: u32,
    pub tensor_count: u64,
    pub tensor_bytes: u64,
    pub budget_bytes: u64,
    pub arena_bytes: u64,
    pub peak_bytes: u64,
    pub pinned_bytes: u64,
    pub adopted_bytes: u64,
    pub steps: u64,
    pub aborted_steps: u64,
    pub mispredictions: u64,
    pub demand_loads: u64,
    pub replans: u64,
    pub h2d_bytes: u64,
    pub d2h_bytes: u64,
    pub last_step_h2d_bytes: u64,
    pub last_step_d2h_bytes: u64,
    pub predicted_step_us: f64,
    pub bound_us: f64,
    pub last_step_us: f64,
    pub last_stall_us: f64,
    pub pageable_bytes: u64,
    pub refused_ops: u64,
    pub steps_before_serving: u64,
    pub reserved_bytes: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_budget_status_t",
    ][::core::mem::size_of::<hoist_budget_status_t>() - 208usize];
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
    [
        "Offset of field: hoist_budget_status_t::pageable_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, pageable_bytes) - 176usize];
    [
        "Offset of field: hoist_budget_status_t::refused_ops",
    ][::core::mem::offset_of!(hoist_budget_status_t, refused_ops) - 184usize];
    [
        "Offset of field: hoist_budget_status_t::steps_before_serving",
    ][::core::mem::offset_of!(hoist_budget_status_t, steps_before_serving) - 192usize];
    [
        "Offset of field: hoist_budget_status_t::reserved_bytes",
    ][::core::mem::offset_of!(hoist_budget_status_t, reserved_bytes) - 200usize];
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
    pub fn hoist_budget_query(
        budget: *const hoist_budget_t,
        out_status: *mut hoist_budget_status_t,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_checkpoint_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_checkpoint_tensor_t {
    pub struct_size: usize,
    pub name: *const ::core::ffi::c_char,
    pub dtype: *const ::core::ffi::c_char,
    pub file: *const ::core::ffi::c_char,
    pub data: *const ::core::ffi::c_void,
    pub bytes: u64,
    pub offset: u64,
    pub rank: u32,
    pub item_bits: u32,
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
    pub fn hoist_checkpoint_open(
        path: *const ::core::ffi::c_char,
        out_checkpoint: *mut *mut hoist_checkpoint_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_checkpoint_close(checkpoint: *mut hoist_checkpoint_t);
}
extern "C" {
    pub fn hoist_checkpoint_get_count(
        checkpoint: *const hoist_checkpoint_t,
        out_count: *mut u64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_checkpoint_query_tensor(
        checkpoint: *const hoist_checkpoint_t,
        index: u64,
        out_tensor: *mut hoist_checkpoint_tensor_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_checkpoint_get_tensor(
        checkpoint: *const hoist_checkpoint_t,
        name: *const ::core::ffi::c_char,
        out_index: *mut u64,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_sequence_t {
    _unused: [u8; 0],
}
pub type hoist_effect_t = u32;
pub type hoist_token_t = u64;
pub type hoist_effect_fn_t = ::core::option::Option<
    unsafe extern "C" fn(
        user_data: *mut ::core::ffi::c_void,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t,
>;
pub type hoist_effect_release_fn_t = ::core::option::Option<
    unsafe extern "C" fn(user_data: *mut ::core::ffi::c_void),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_effect_desc_t {
    pub struct_size: usize,
    pub name: *const ::core::ffi::c_char,
    pub function: hoist_effect_fn_t,
    pub user_data: *mut ::core::ffi::c_void,
    pub release: hoist_effect_release_fn_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_effect_desc_t",
    ][::core::mem::size_of::<hoist_effect_desc_t>() - 40usize];
    [
        "Alignment of hoist_effect_desc_t",
    ][::core::mem::align_of::<hoist_effect_desc_t>() - 8usize];
    [
        "Offset of field: hoist_effect_desc_t::struct_size",
    ][::core::mem::offset_of!(hoist_effect_desc_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_effect_desc_t::name",
    ][::core::mem::offset_of!(hoist_effect_desc_t, name) - 8usize];
    [
        "Offset of field: hoist_effect_desc_t::function",
    ][::core::mem::offset_of!(hoist_effect_desc_t, function) - 16usize];
    [
        "Offset of field: hoist_effect_desc_t::user_data",
    ][::core::mem::offset_of!(hoist_effect_desc_t, user_data) - 24usize];
    [
        "Offset of field: hoist_effect_desc_t::release",
    ][::core::mem::offset_of!(hoist_effect_desc_t, release) - 32usize];
};
impl Default for hoist_effect_desc_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    pub fn hoist_sequence_create(
        device: *mut hoist_device_t,
        name: *const ::core::ffi::c_char,
        out_sequence: *mut *mut hoist_sequence_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_sequence_destroy(sequence: *mut hoist_sequence_t);
}
extern "C" {
    pub fn hoist_effect_register(
        sequence: *mut hoist_sequence_t,
        desc: *const hoist_effect_desc_t,
        out_effect: *mut hoist_effect_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_sequence_begin(
        sequence: *mut hoist_sequence_t,
        out_token: *mut hoist_token_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_effect_submit(
        sequence: *mut hoist_sequence_t,
        effect: hoist_effect_t,
        stream: *mut hoist_stream_t,
        token: hoist_token_t,
        out_token: *mut hoist_token_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_sequence_end(
        sequence: *mut hoist_sequence_t,
        token: hoist_token_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_sequence_abort(sequence: *mut hoist_sequence_t) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hoist_sequence_status_t {
    pub struct_size: usize,
    pub effect_count: u32,
    pub is_open: u32,
    pub due: hoist_effect_t,
    pub reserved: u32,
    pub runs: u64,
    pub aborted_runs: u64,
    pub submitted: u64,
    pub refused: u64,
    pub stream_changes: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_sequence_status_t",
    ][::core::mem::size_of::<hoist_sequence_status_t>() - 64usize];
    [
        "Alignment of hoist_sequence_status_t",
    ][::core::mem::align_of::<hoist_sequence_status_t>() - 8usize];
    [
        "Offset of field: hoist_sequence_status_t::struct_size",
    ][::core::mem::offset_of!(hoist_sequence_status_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_sequence_status_t::effect_count",
    ][::core::mem::offset_of!(hoist_sequence_status_t, effect_count) - 8usize];
    [
        "Offset of field: hoist_sequence_status_t::is_open",
    ][::core::mem::offset_of!(hoist_sequence_status_t, is_open) - 12usize];
    [
        "Offset of field: hoist_sequence_status_t::due",
    ][::core::mem::offset_of!(hoist_sequence_status_t, due) - 16usize];
    [
        "Offset of field: hoist_sequence_status_t::reserved",
    ][::core::mem::offset_of!(hoist_sequence_status_t, reserved) - 20usize];
    [
        "Offset of field: hoist_sequence_status_t::runs",
    ][::core::mem::offset_of!(hoist_sequence_status_t, runs) - 24usize];
    [
        "Offset of field: hoist_sequence_status_t::aborted_runs",
    ][::core::mem::offset_of!(hoist_sequence_status_t, aborted_runs) - 32usize];
    [
        "Offset of field: hoist_sequence_status_t::submitted",
    ][::core::mem::offset_of!(hoist_sequence_status_t, submitted) - 40usize];
    [
        "Offset of field: hoist_sequence_status_t::refused",
    ][::core::mem::offset_of!(hoist_sequence_status_t, refused) - 48usize];
    [
        "Offset of field: hoist_sequence_status_t::stream_changes",
    ][::core::mem::offset_of!(hoist_sequence_status_t, stream_changes) - 56usize];
};
extern "C" {
    pub fn hoist_sequence_query(
        sequence: *const hoist_sequence_t,
        out_status: *mut hoist_sequence_status_t,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_manager_t {
    _unused: [u8; 0],
}
pub type hoist_unit_t = u32;
pub type hoist_tensor_t = u32;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_manager_options_t {
    pub struct_size: usize,
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
extern "C" {
    pub fn hoist_manager_options_init(
        out_options: *mut hoist_manager_options_t,
    ) -> hoist_status_t;
}
impl hoist_use_mode_t {
    pub const HOIST_USE_READ: hoist_use_mode_t = hoist_use_mode_t(0);
    pub const HOIST_USE_WRITE: hoist_use_mode_t = hoist_use_mode_t(1);
    pub const HOIST_USE_READ_WRITE: hoist_use_mode_t = hoist_use_mode_t(2);
    pub const HOIST_USE_FORCE_32: hoist_use_mode_t = hoist_use_mode_t(2147483647);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_use_mode_t(pub ::core::ffi::c_uint);
impl hoist_tensor_class_t {
    pub const HOIST_CLASS_WEIGHT: hoist_tensor_class_t = hoist_tensor_class_t(0);
    pub const HOIST_CLASS_STATE: hoist_tensor_class_t = hoist_tensor_class_t(1);
    pub const HOIST_CLASS_ACTIVATION: hoist_tensor_class_t = hoist_tensor_class_t(2);
    pub const HOIST_CLASS_FORCE_32: hoist_tensor_class_t = hoist_tensor_class_t(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_tensor_class_t(pub ::core::ffi::c_uint);
impl hoist_tensor_flags_t {
    pub const HOIST_TENSOR_COPY: hoist_tensor_flags_t = hoist_tensor_flags_t(1);
    pub const HOIST_TENSOR_ADOPT: hoist_tensor_flags_t = hoist_tensor_flags_t(2);
    pub const HOIST_TENSOR_TRANSIENT: hoist_tensor_flags_t = hoist_tensor_flags_t(4);
    pub const HOIST_TENSOR_ZERO: hoist_tensor_flags_t = hoist_tensor_flags_t(8);
    pub const HOIST_TENSOR_FLAGS_FORCE_32: hoist_tensor_flags_t = hoist_tensor_flags_t(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_tensor_flags_t(pub ::core::ffi::c_uint);
pub type hoist_release_fn_t = ::core::option::Option<
    unsafe extern "C" fn(user_data: *mut ::core::ffi::c_void),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_tensor_desc_t {
    pub struct_size: usize,
    pub name: *const ::core::ffi::c_char,
    pub bytes: u64,
    pub host: *mut ::core::ffi::c_void,
    pub flags: u32,
    pub mode: hoist_use_mode_t,
    pub tensor_class: hoist_tensor_class_t,
    pub reserved: u32,
    pub release: hoist_release_fn_t,
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
    pub fn hoist_manager_create(
        device: *mut hoist_device_t,
        options: *const hoist_manager_options_t,
        out_manager: *mut *mut hoist_manager_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_destroy(manager: *mut hoist_manager_t);
}
extern "C" {
    pub fn hoist_manager_add_unit(
        manager: *mut hoist_manager_t,
        name: *const ::core::ffi::c_char,
        out_unit: *mut hoist_unit_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_set_workspace(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        bytes: u64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_add_tensor(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        desc: *const hoist_tensor_desc_t,
        out_tensor: *mut hoist_tensor_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_add_use(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        tensor: hoist_tensor_t,
        mode: hoist_use_mode_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_add_alias(
        manager: *mut hoist_manager_t,
        name: *const ::core::ffi::c_char,
        tensor: hoist_tensor_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_get_tensor(
        manager: *const hoist_manager_t,
        name: *const ::core::ffi::c_char,
        out_tensor: *mut hoist_tensor_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_commit(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_drain(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_suspend(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_resume(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_tensor_update(
        manager: *mut hoist_manager_t,
        tensor: hoist_tensor_t,
        src: *const ::core::ffi::c_void,
        bytes: u64,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_tensor_read(
        manager: *mut hoist_manager_t,
        tensor: hoist_tensor_t,
        dst: *mut ::core::ffi::c_void,
        bytes: u64,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_tensor_info_t {
    pub struct_size: usize,
    pub name: *const ::core::ffi::c_char,
    pub bytes: u64,
    pub host: *const ::core::ffi::c_void,
    pub version: u64,
    pub on_device: u32,
    pub host_current: u32,
    pub flags: u32,
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
    pub fn hoist_tensor_query(
        manager: *const hoist_manager_t,
        tensor: hoist_tensor_t,
        out_info: *mut hoist_tensor_info_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_query(
        manager: *const hoist_manager_t,
        out_status: *mut hoist_budget_status_t,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_graph_t {
    _unused: [u8; 0],
}
extern "C" {
    pub fn hoist_capture_begin(stream: *mut hoist_stream_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_capture_end(
        stream: *mut hoist_stream_t,
        out_graph: *mut *mut hoist_graph_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_graph_launch(
        graph: *mut hoist_graph_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_graph_destroy(graph: *mut hoist_graph_t);
}
impl hoist_replay_state_t {
    pub const HOIST_REPLAY_NONE: hoist_replay_state_t = hoist_replay_state_t(0);
    pub const HOIST_REPLAY_OPEN: hoist_replay_state_t = hoist_replay_state_t(1);
    pub const HOIST_REPLAY_HELD: hoist_replay_state_t = hoist_replay_state_t(2);
    pub const HOIST_REPLAY_STARVED: hoist_replay_state_t = hoist_replay_state_t(3);
    pub const HOIST_REPLAY_FORCE_32: hoist_replay_state_t = hoist_replay_state_t(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_replay_state_t(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_replay_status_t {
    pub struct_size: usize,
    pub state: hoist_replay_state_t,
    pub placement: hoist_placement_t,
    pub captures: u64,
    pub begun: u64,
    pub ended: u64,
    pub aborted: u64,
    pub last_us: f64,
    pub reason: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_replay_status_t",
    ][::core::mem::size_of::<hoist_replay_status_t>() - 64usize];
    [
        "Alignment of hoist_replay_status_t",
    ][::core::mem::align_of::<hoist_replay_status_t>() - 8usize];
    [
        "Offset of field: hoist_replay_status_t::struct_size",
    ][::core::mem::offset_of!(hoist_replay_status_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_replay_status_t::state",
    ][::core::mem::offset_of!(hoist_replay_status_t, state) - 8usize];
    [
        "Offset of field: hoist_replay_status_t::placement",
    ][::core::mem::offset_of!(hoist_replay_status_t, placement) - 12usize];
    [
        "Offset of field: hoist_replay_status_t::captures",
    ][::core::mem::offset_of!(hoist_replay_status_t, captures) - 16usize];
    [
        "Offset of field: hoist_replay_status_t::begun",
    ][::core::mem::offset_of!(hoist_replay_status_t, begun) - 24usize];
    [
        "Offset of field: hoist_replay_status_t::ended",
    ][::core::mem::offset_of!(hoist_replay_status_t, ended) - 32usize];
    [
        "Offset of field: hoist_replay_status_t::aborted",
    ][::core::mem::offset_of!(hoist_replay_status_t, aborted) - 40usize];
    [
        "Offset of field: hoist_replay_status_t::last_us",
    ][::core::mem::offset_of!(hoist_replay_status_t, last_us) - 48usize];
    [
        "Offset of field: hoist_replay_status_t::reason",
    ][::core::mem::offset_of!(hoist_replay_status_t, reason) - 56usize];
};
impl Default for hoist_replay_status_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
extern "C" {
    pub fn hoist_replay_query(
        manager: *mut hoist_manager_t,
        out_status: *mut hoist_replay_status_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_replay_abort(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_replay_release(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_host_memory_create(
        device: *mut hoist_device_t,
        bytes: u64,
        out_memory: *mut *mut ::core::ffi::c_void,
        out_pinned: *mut ::core::ffi::c_int,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_host_memory_destroy(
        device: *mut hoist_device_t,
        memory: *mut ::core::ffi::c_void,
    );
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_problem_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct hoist_plan_t {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hoist_plan_options_t {
    pub struct_size: usize,
    pub effort: u32,
    pub reserved: u32,
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
extern "C" {
    pub fn hoist_plan_options_init(
        out_options: *mut hoist_plan_options_t,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hoist_plan_result_t {
    pub struct_size: usize,
    pub step_us: f64,
    pub stall_us: f64,
    pub bound_us: f64,
    pub windowed_us: f64,
    pub peak_bytes: u64,
    pub h2d_bytes: u64,
    pub d2h_bytes: u64,
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
    pub fn hoist_problem_import(
        json: *const ::core::ffi::c_char,
        bytes: usize,
        out_problem: *mut *mut hoist_problem_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_problem_export(
        problem: *const hoist_problem_t,
        buffer: *mut ::core::ffi::c_char,
        inout_bytes: *mut usize,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_problem_destroy(problem: *mut hoist_problem_t);
}
extern "C" {
    pub fn hoist_plan_solve(
        problem: *const hoist_problem_t,
        options: *const hoist_plan_options_t,
        out_plan: *mut *mut hoist_plan_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_plan_import(
        problem: *const hoist_problem_t,
        json: *const ::core::ffi::c_char,
        bytes: usize,
        out_plan: *mut *mut hoist_plan_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_plan_export(
        plan: *const hoist_plan_t,
        buffer: *mut ::core::ffi::c_char,
        inout_bytes: *mut usize,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_plan_destroy(plan: *mut hoist_plan_t);
}
extern "C" {
    pub fn hoist_plan_check(
        problem: *const hoist_problem_t,
        plan: *const hoist_plan_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_plan_simulate(
        problem: *const hoist_problem_t,
        plan: *const hoist_plan_t,
        trace_path: *const ::core::ffi::c_char,
        out_result: *mut hoist_plan_result_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_plan_bound(
        problem: *const hoist_problem_t,
        out_result: *mut hoist_plan_result_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_plan_explain(
        problem: *const hoist_problem_t,
        plan: *const hoist_plan_t,
        buffer: *mut ::core::ffi::c_char,
        inout_bytes: *mut usize,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_get_problem(
        manager: *mut hoist_manager_t,
        out_problem: *mut *mut hoist_problem_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_manager_get_plan(
        manager: *mut hoist_manager_t,
        out_plan: *mut *mut hoist_plan_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_replan_prepare(
        manager: *mut hoist_manager_t,
        steps: u32,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_replan_request(
        manager: *mut hoist_manager_t,
        problem: *const hoist_problem_t,
        plan: *const hoist_plan_t,
    ) -> hoist_status_t;
}
impl hoist_replan_state_t {
    pub const HOIST_REPLAN_NONE: hoist_replan_state_t = hoist_replan_state_t(0);
    pub const HOIST_REPLAN_PENDING: hoist_replan_state_t = hoist_replan_state_t(1);
    pub const HOIST_REPLAN_APPLIED: hoist_replan_state_t = hoist_replan_state_t(2);
    pub const HOIST_REPLAN_FAILED: hoist_replan_state_t = hoist_replan_state_t(3);
    pub const HOIST_REPLAN_FORCE_32: hoist_replan_state_t = hoist_replan_state_t(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_replan_state_t(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_replan_status_t {
    pub struct_size: usize,
    pub state: hoist_replan_state_t,
    pub can_request: u32,
    pub applied: u64,
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
    pub fn hoist_replan_query(
        manager: *const hoist_manager_t,
        out_status: *mut hoist_replan_status_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_plugin_load(
        path: *const ::core::ffi::c_char,
        out_kind: *mut *const ::core::ffi::c_char,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_tensor_view_t {
    pub data: *mut ::core::ffi::c_void,
    pub bytes: u64,
    pub tensor: hoist_tensor_t,
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
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_unit_view_t {
    pub struct_size: usize,
    pub count: usize,
    pub stride: usize,
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
    pub fn hoist_step_begin(
        manager: *mut hoist_manager_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_unit_begin(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        stream: *mut hoist_stream_t,
        out_view: *mut hoist_unit_view_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_unit_end(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_step_end(
        manager: *mut hoist_manager_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_step_abort(
        manager: *mut hoist_manager_t,
        stream: *mut hoist_stream_t,
    ) -> hoist_status_t;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hoist_unit_timing_t {
    pub struct_size: usize,
    pub steps: u64,
    pub compute_min_us: f64,
    pub compute_median_us: f64,
    pub compute_max_us: f64,
    pub transfer_min_us: f64,
    pub transfer_median_us: f64,
    pub transfer_max_us: f64,
    pub wait_min_us: f64,
    pub wait_median_us: f64,
    pub wait_max_us: f64,
    pub transfer_bytes: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_unit_timing_t",
    ][::core::mem::size_of::<hoist_unit_timing_t>() - 96usize];
    [
        "Alignment of hoist_unit_timing_t",
    ][::core::mem::align_of::<hoist_unit_timing_t>() - 8usize];
    [
        "Offset of field: hoist_unit_timing_t::struct_size",
    ][::core::mem::offset_of!(hoist_unit_timing_t, struct_size) - 0usize];
    [
        "Offset of field: hoist_unit_timing_t::steps",
    ][::core::mem::offset_of!(hoist_unit_timing_t, steps) - 8usize];
    [
        "Offset of field: hoist_unit_timing_t::compute_min_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, compute_min_us) - 16usize];
    [
        "Offset of field: hoist_unit_timing_t::compute_median_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, compute_median_us) - 24usize];
    [
        "Offset of field: hoist_unit_timing_t::compute_max_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, compute_max_us) - 32usize];
    [
        "Offset of field: hoist_unit_timing_t::transfer_min_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, transfer_min_us) - 40usize];
    [
        "Offset of field: hoist_unit_timing_t::transfer_median_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, transfer_median_us) - 48usize];
    [
        "Offset of field: hoist_unit_timing_t::transfer_max_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, transfer_max_us) - 56usize];
    [
        "Offset of field: hoist_unit_timing_t::wait_min_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, wait_min_us) - 64usize];
    [
        "Offset of field: hoist_unit_timing_t::wait_median_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, wait_median_us) - 72usize];
    [
        "Offset of field: hoist_unit_timing_t::wait_max_us",
    ][::core::mem::offset_of!(hoist_unit_timing_t, wait_max_us) - 80usize];
    [
        "Offset of field: hoist_unit_timing_t::transfer_bytes",
    ][::core::mem::offset_of!(hoist_unit_timing_t, transfer_bytes) - 88usize];
};
extern "C" {
    pub fn hoist_timing_begin(
        manager: *mut hoist_manager_t,
        step_limit: u32,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_timing_update(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_timing_query(
        manager: *mut hoist_manager_t,
        unit: hoist_unit_t,
        out_timing: *mut hoist_unit_timing_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_timing_end(manager: *mut hoist_manager_t) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_trace_begin(
        manager: *mut hoist_manager_t,
        event_limit: u64,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_trace_end(
        manager: *mut hoist_manager_t,
        path: *const ::core::ffi::c_char,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_version_string() -> *const ::core::ffi::c_char;
}
extern "C" {
    pub fn hoist_version_abi() -> u32;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct hoist_device_services_t {
    pub struct_size: usize,
    pub abi_version: u32,
    pub reserved: u32,
    pub error_set: ::core::option::Option<
        unsafe extern "C" fn(
            code: hoist_status_t,
            message: *const ::core::ffi::c_char,
            hint: *const ::core::ffi::c_char,
        ),
    >,
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
impl hoist_word_op_kind_t {
    pub const HOIST_WORD_WAIT: hoist_word_op_kind_t = hoist_word_op_kind_t(0);
    pub const HOIST_WORD_WRITE: hoist_word_op_kind_t = hoist_word_op_kind_t(1);
    pub const HOIST_WORD_OP_FORCE_32: hoist_word_op_kind_t = hoist_word_op_kind_t(
        2147483647,
    );
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct hoist_word_op_kind_t(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_word_op_t {
    pub word: *mut u32,
    pub value: u32,
    pub kind: hoist_word_op_kind_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of hoist_word_op_t"][::core::mem::size_of::<hoist_word_op_t>() - 16usize];
    [
        "Alignment of hoist_word_op_t",
    ][::core::mem::align_of::<hoist_word_op_t>() - 8usize];
    [
        "Offset of field: hoist_word_op_t::word",
    ][::core::mem::offset_of!(hoist_word_op_t, word) - 0usize];
    [
        "Offset of field: hoist_word_op_t::value",
    ][::core::mem::offset_of!(hoist_word_op_t, value) - 8usize];
    [
        "Offset of field: hoist_word_op_t::kind",
    ][::core::mem::offset_of!(hoist_word_op_t, kind) - 12usize];
};
impl Default for hoist_word_op_t {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct hoist_device_ops_t {
    pub struct_size: usize,
    pub abi_version: u32,
    pub reserved: u32,
    pub name: *const ::core::ffi::c_char,
    pub driver: *mut ::core::ffi::c_void,
    pub count: ::core::option::Option<
        unsafe extern "C" fn(
            driver: *mut ::core::ffi::c_void,
            out_count: *mut u32,
        ) -> hoist_status_t,
    >,
    pub describe: ::core::option::Option<
        unsafe extern "C" fn(
            driver: *mut ::core::ffi::c_void,
            index: u32,
            out_properties: *mut hoist_device_properties_t,
        ) -> hoist_status_t,
    >,
    pub open: ::core::option::Option<
        unsafe extern "C" fn(
            driver: *mut ::core::ffi::c_void,
            index: u32,
            options: *const ::core::ffi::c_char,
            out_self: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub close: ::core::option::Option<
        unsafe extern "C" fn(self_: *mut ::core::ffi::c_void),
    >,
    pub query: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_properties: *mut hoist_device_properties_t,
        ) -> hoist_status_t,
    >,
    pub query_memory: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_free: *mut u64,
            out_total: *mut u64,
        ) -> hoist_status_t,
    >,
    pub set: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            key: *const ::core::ffi::c_char,
            value: *const ::core::ffi::c_char,
        ) -> hoist_status_t,
    >,
    pub get_time: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_us: *mut f64,
        ) -> hoist_status_t,
    >,
    pub memory_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            bytes: u64,
            out_memory: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub memory_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
        ),
    >,
    pub host_register: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    pub host_unregister: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    pub stream_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_stream: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub stream_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
        ),
    >,
    pub stream_wrap: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            native: *mut ::core::ffi::c_void,
            out_stream: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub stream_wait: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub stream_wait_event: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub event_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_event: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub event_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
        ),
    >,
    pub event_record: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub event_poll: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
            out_ready: *mut ::core::ffi::c_int,
        ) -> hoist_status_t,
    >,
    pub event_wait: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            event: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub event_get_elapsed: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            begin: *mut ::core::ffi::c_void,
            end: *mut ::core::ffi::c_void,
            out_us: *mut f64,
        ) -> hoist_status_t,
    >,
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
    pub fill: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            dst: *mut ::core::ffi::c_void,
            value: u8,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    pub host_function: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            function: hoist_host_fn_t,
            user_data: *mut ::core::ffi::c_void,
            modelled_us: f64,
        ) -> hoist_status_t,
    >,
    pub access_begin: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    pub access_end: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            memory: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    pub handle_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            bytes: u64,
            out_handle: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub handle_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            handle: *mut ::core::ffi::c_void,
        ),
    >,
    pub address_reserve: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            bytes: u64,
            out_address: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub address_release: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            address: *mut ::core::ffi::c_void,
            bytes: u64,
        ),
    >,
    pub memory_map: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            address: *mut ::core::ffi::c_void,
            bytes: u64,
            handle: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub memory_unmap: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            address: *mut ::core::ffi::c_void,
            bytes: u64,
        ) -> hoist_status_t,
    >,
    pub words_create: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            count: u64,
            out_words: *mut *mut u32,
        ) -> hoist_status_t,
    >,
    pub words_destroy: ::core::option::Option<
        unsafe extern "C" fn(self_: *mut ::core::ffi::c_void, words: *mut u32),
    >,
    pub words_submit: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            count: u64,
            operations: *const hoist_word_op_t,
        ) -> hoist_status_t,
    >,
    pub capture_query: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            out_capturing: *mut ::core::ffi::c_int,
        ) -> hoist_status_t,
    >,
    pub capture_begin: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub capture_end: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
            out_graph: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub graph_launch: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            graph: *mut ::core::ffi::c_void,
            stream: *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
    pub graph_destroy: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            graph: *mut ::core::ffi::c_void,
        ),
    >,
    pub stream_create_aside: ::core::option::Option<
        unsafe extern "C" fn(
            self_: *mut ::core::ffi::c_void,
            out_stream: *mut *mut ::core::ffi::c_void,
        ) -> hoist_status_t,
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of hoist_device_ops_t",
    ][::core::mem::size_of::<hoist_device_ops_t>() - 384usize];
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
        "Offset of field: hoist_device_ops_t::describe",
    ][::core::mem::offset_of!(hoist_device_ops_t, describe) - 40usize];
    [
        "Offset of field: hoist_device_ops_t::open",
    ][::core::mem::offset_of!(hoist_device_ops_t, open) - 48usize];
    [
        "Offset of field: hoist_device_ops_t::close",
    ][::core::mem::offset_of!(hoist_device_ops_t, close) - 56usize];
    [
        "Offset of field: hoist_device_ops_t::query",
    ][::core::mem::offset_of!(hoist_device_ops_t, query) - 64usize];
    [
        "Offset of field: hoist_device_ops_t::query_memory",
    ][::core::mem::offset_of!(hoist_device_ops_t, query_memory) - 72usize];
    [
        "Offset of field: hoist_device_ops_t::set",
    ][::core::mem::offset_of!(hoist_device_ops_t, set) - 80usize];
    [
        "Offset of field: hoist_device_ops_t::get_time",
    ][::core::mem::offset_of!(hoist_device_ops_t, get_time) - 88usize];
    [
        "Offset of field: hoist_device_ops_t::memory_create",
    ][::core::mem::offset_of!(hoist_device_ops_t, memory_create) - 96usize];
    [
        "Offset of field: hoist_device_ops_t::memory_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, memory_destroy) - 104usize];
    [
        "Offset of field: hoist_device_ops_t::host_register",
    ][::core::mem::offset_of!(hoist_device_ops_t, host_register) - 112usize];
    [
        "Offset of field: hoist_device_ops_t::host_unregister",
    ][::core::mem::offset_of!(hoist_device_ops_t, host_unregister) - 120usize];
    [
        "Offset of field: hoist_device_ops_t::stream_create",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_create) - 128usize];
    [
        "Offset of field: hoist_device_ops_t::stream_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_destroy) - 136usize];
    [
        "Offset of field: hoist_device_ops_t::stream_wrap",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_wrap) - 144usize];
    [
        "Offset of field: hoist_device_ops_t::stream_wait",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_wait) - 152usize];
    [
        "Offset of field: hoist_device_ops_t::stream_wait_event",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_wait_event) - 160usize];
    [
        "Offset of field: hoist_device_ops_t::event_create",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_create) - 168usize];
    [
        "Offset of field: hoist_device_ops_t::event_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_destroy) - 176usize];
    [
        "Offset of field: hoist_device_ops_t::event_record",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_record) - 184usize];
    [
        "Offset of field: hoist_device_ops_t::event_poll",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_poll) - 192usize];
    [
        "Offset of field: hoist_device_ops_t::event_wait",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_wait) - 200usize];
    [
        "Offset of field: hoist_device_ops_t::event_get_elapsed",
    ][::core::mem::offset_of!(hoist_device_ops_t, event_get_elapsed) - 208usize];
    [
        "Offset of field: hoist_device_ops_t::copy",
    ][::core::mem::offset_of!(hoist_device_ops_t, copy) - 216usize];
    [
        "Offset of field: hoist_device_ops_t::copy_batch",
    ][::core::mem::offset_of!(hoist_device_ops_t, copy_batch) - 224usize];
    [
        "Offset of field: hoist_device_ops_t::fill",
    ][::core::mem::offset_of!(hoist_device_ops_t, fill) - 232usize];
    [
        "Offset of field: hoist_device_ops_t::host_function",
    ][::core::mem::offset_of!(hoist_device_ops_t, host_function) - 240usize];
    [
        "Offset of field: hoist_device_ops_t::access_begin",
    ][::core::mem::offset_of!(hoist_device_ops_t, access_begin) - 248usize];
    [
        "Offset of field: hoist_device_ops_t::access_end",
    ][::core::mem::offset_of!(hoist_device_ops_t, access_end) - 256usize];
    [
        "Offset of field: hoist_device_ops_t::handle_create",
    ][::core::mem::offset_of!(hoist_device_ops_t, handle_create) - 264usize];
    [
        "Offset of field: hoist_device_ops_t::handle_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, handle_destroy) - 272usize];
    [
        "Offset of field: hoist_device_ops_t::address_reserve",
    ][::core::mem::offset_of!(hoist_device_ops_t, address_reserve) - 280usize];
    [
        "Offset of field: hoist_device_ops_t::address_release",
    ][::core::mem::offset_of!(hoist_device_ops_t, address_release) - 288usize];
    [
        "Offset of field: hoist_device_ops_t::memory_map",
    ][::core::mem::offset_of!(hoist_device_ops_t, memory_map) - 296usize];
    [
        "Offset of field: hoist_device_ops_t::memory_unmap",
    ][::core::mem::offset_of!(hoist_device_ops_t, memory_unmap) - 304usize];
    [
        "Offset of field: hoist_device_ops_t::words_create",
    ][::core::mem::offset_of!(hoist_device_ops_t, words_create) - 312usize];
    [
        "Offset of field: hoist_device_ops_t::words_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, words_destroy) - 320usize];
    [
        "Offset of field: hoist_device_ops_t::words_submit",
    ][::core::mem::offset_of!(hoist_device_ops_t, words_submit) - 328usize];
    [
        "Offset of field: hoist_device_ops_t::capture_query",
    ][::core::mem::offset_of!(hoist_device_ops_t, capture_query) - 336usize];
    [
        "Offset of field: hoist_device_ops_t::capture_begin",
    ][::core::mem::offset_of!(hoist_device_ops_t, capture_begin) - 344usize];
    [
        "Offset of field: hoist_device_ops_t::capture_end",
    ][::core::mem::offset_of!(hoist_device_ops_t, capture_end) - 352usize];
    [
        "Offset of field: hoist_device_ops_t::graph_launch",
    ][::core::mem::offset_of!(hoist_device_ops_t, graph_launch) - 360usize];
    [
        "Offset of field: hoist_device_ops_t::graph_destroy",
    ][::core::mem::offset_of!(hoist_device_ops_t, graph_destroy) - 368usize];
    [
        "Offset of field: hoist_device_ops_t::stream_create_aside",
    ][::core::mem::offset_of!(hoist_device_ops_t, stream_create_aside) - 376usize];
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
    pub fn hoist_device_register(
        ops: *const hoist_device_ops_t,
        out_services: *mut *const hoist_device_services_t,
    ) -> hoist_status_t;
}
extern "C" {
    pub fn hoist_device_get_ops(
        kind: *const ::core::ffi::c_char,
        out_ops: *mut hoist_device_ops_t,
    ) -> hoist_status_t;
}
pub type hoist_device_plugin_init_fn_t = ::core::option::Option<
    unsafe extern "C" fn(
        requested_abi: u32,
        services: *const hoist_device_services_t,
        out_ops: *mut hoist_device_ops_t,
    ) -> hoist_status_t,
>;
