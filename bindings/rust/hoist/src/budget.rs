// SPDX-License-Identifier: Apache-2.0
//! The one budget of a device that managers join.

use crate::error::{c_string, check};
use crate::handle::owner;
use crate::{Device, Result};
use hoist_sys as sys;

/// Counts and sizes of a budget; the fields are the C struct's.
pub use hoist_sys::hoist_budget_status_t as BudgetStatus;
/// Where the lifecycle stands.
pub use hoist_sys::hoist_phase_t as Phase;

/// Options of a budget, by name; the names are the fields of `hoist_budget_options_t`, and "budget".
pub struct BudgetOptions(sys::hoist_budget_options_t);

impl BudgetOptions {
    /// All defaults.
    pub fn new() -> Result<Self> {
        let struct_size = std::mem::size_of::<sys::hoist_budget_options_t>();
        let mut options = Self(sys::hoist_budget_options_t { struct_size, ..Default::default() });
        // SAFETY: the struct's size is set.
        check(unsafe { sys::hoist_budget_options_init(&mut options.0) })?;
        Ok(options)
    }

    /// Sets an option: "budget" takes bytes ("24GiB") or a share ("60%").
    pub fn set(mut self, key: &str, value: &str) -> Result<Self> {
        let (key, value) = (c_string(key)?, c_string(value)?);
        // SAFETY: both texts are read during the call only.
        check(unsafe { sys::hoist_budget_options_set(&mut self.0, key.as_ptr(), value.as_ptr()) })?;
        Ok(self)
    }
}

owner! {
    /// A budget over one device. What has joined keeps it alive.
    Budget, hoist_budget_t, hoist_budget_destroy
}
// SAFETY: @externsync calls may come from any thread, one at a time.
unsafe impl Send for Budget {}

impl Budget {
    /// Creates a budget; None for all defaults.
    pub fn new(device: &Device, options: Option<BudgetOptions>) -> Result<Self> {
        let raw = options.as_ref().map_or(std::ptr::null(), |options| &options.0);
        // SAFETY: the options are read during the call only.
        Self::make(|out| unsafe { sys::hoist_budget_create(device.as_ptr(), raw, out) })
    }

    /// Changes the budget to a number of bytes; the next step's begin swaps the plan.
    pub fn set_bytes(&self, bytes: u64) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_budget_set(self.as_ptr(), bytes, 0.0) })
    }

    /// Changes the budget to a share of the managed tensors' unique bytes.
    pub fn set_share(&self, share: f64) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_budget_set(self.as_ptr(), 0, share) })
    }

    /// Changes the budget as the option "budget" takes it: bytes ("24GiB") or a share ("60%").
    pub fn set(&self, budget: &str) -> Result<()> {
        let options = BudgetOptions::new()?.set("budget", budget)?.0;
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_budget_set(self.as_ptr(), options.budget_bytes, options.budget_share) })
    }

    /// Counts device bytes that lie outside of hoist against a budget of bytes, for all who joined.
    pub fn reserve(&self, bytes: u64) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_budget_reserve(self.as_ptr(), bytes) })
    }

    /// Gives reserved bytes back.
    pub fn release(&self, bytes: u64) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_budget_release(self.as_ptr(), bytes) })
    }

    /// Reads counts and sizes.
    pub fn query(&self) -> Result<BudgetStatus> {
        let mut status = BudgetStatus { struct_size: std::mem::size_of::<BudgetStatus>(), ..Default::default() };
        // SAFETY: the struct's size is set.
        check(unsafe { sys::hoist_budget_query(self.as_ptr(), &mut status) })?;
        Ok(status)
    }
}
