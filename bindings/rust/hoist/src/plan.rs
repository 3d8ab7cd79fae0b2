// SPDX-License-Identifier: Apache-2.0
//! Problems and plans, and replans of a manager.

use crate::error::{check, string};
use crate::handle::owner;
use crate::manager::c_path;
use crate::{Code, Manager, Result};
use hoist_sys as sys;
use std::ffi::c_char;
use std::path::Path;

/// What a plan comes to, predicted or simulated; the fields are the C struct's.
pub use hoist_sys::hoist_plan_result_t as PlanResult;
/// What became of a replan.
pub use hoist_sys::hoist_replan_state_t as ReplanState;

owner! {
    /// Units, items, links and a budget. Immutable.
    Problem, hoist_problem_t, hoist_problem_destroy
}
owner! {
    /// Residency, ops and places for one problem. Immutable.
    Plan, hoist_plan_t, hoist_plan_destroy
}
// SAFETY: every call on them is @threadsafe.
unsafe impl Send for Problem {}
unsafe impl Sync for Problem {}
unsafe impl Send for Plan {}
unsafe impl Sync for Plan {}

/// Runs a call that fills a buffer: once for the size, once for the text.
fn text(export: impl Fn(*mut c_char, *mut usize) -> Code) -> Result<String> {
    let mut bytes = 0;
    check(export(std::ptr::null_mut(), &mut bytes))?;
    let mut buffer = vec![0u8; bytes];
    check(export(buffer.as_mut_ptr().cast(), &mut bytes))?;
    buffer.truncate(bytes);
    Ok(String::from_utf8_lossy(&buffer).into_owned())
}

fn sized_result() -> PlanResult {
    PlanResult { struct_size: std::mem::size_of::<PlanResult>(), ..Default::default() }
}

impl Problem {
    /// Reads a problem from JSON.
    pub fn from_json(json: &str) -> Result<Self> {
        // SAFETY: the text is read during the call only.
        Self::make(|out| unsafe { sys::hoist_problem_import(json.as_ptr().cast(), json.len(), out) })
    }

    /// Writes the problem as JSON.
    pub fn to_json(&self) -> Result<String> {
        // SAFETY: the room is as long as said.
        text(|to, bytes| unsafe { sys::hoist_problem_export(self.as_ptr(), to, bytes) })
    }

    /// Times that no plan can beat, and the bytes that must cross.
    pub fn bound(&self) -> Result<PlanResult> {
        let mut result = sized_result();
        // SAFETY: the struct's size is set.
        check(unsafe { sys::hoist_plan_bound(self.as_ptr(), &mut result) })?;
        Ok(result)
    }
}

impl Plan {
    /// Makes a plan. Effort: iterations of search, 0: the library's; time limit: 0: none.
    pub fn solve(problem: &Problem, effort: u32, time_limit_seconds: f64) -> Result<Self> {
        let struct_size = std::mem::size_of::<sys::hoist_plan_options_t>();
        let mut options = sys::hoist_plan_options_t { struct_size, ..Default::default() };
        // SAFETY: the struct's size is set.
        check(unsafe { sys::hoist_plan_options_init(&mut options) })?;
        (options.effort, options.time_limit_seconds) = (effort, time_limit_seconds);
        // SAFETY: the options are read during the call only.
        Self::make(|out| unsafe { sys::hoist_plan_solve(problem.as_ptr(), &options, out) })
    }

    /// Reads a plan for a problem from JSON; [`Plan::check`] says whether it is valid.
    pub fn from_json(problem: &Problem, json: &str) -> Result<Self> {
        // SAFETY: the text is read during the call only.
        Self::make(|out| unsafe { sys::hoist_plan_import(problem.as_ptr(), json.as_ptr().cast(), json.len(), out) })
    }

    /// Writes the plan as JSON.
    pub fn to_json(&self) -> Result<String> {
        // SAFETY: the room is as long as said.
        text(|to, bytes| unsafe { sys::hoist_plan_export(self.as_ptr(), to, bytes) })
    }

    /// Checks the plan against a problem.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        // SAFETY: both handles are live.
        check(unsafe { sys::hoist_plan_check(problem.as_ptr(), self.as_ptr()) })
    }

    /// Runs the plan without a device; where a path is given, writes a Chrome trace of the last step.
    pub fn simulate(&self, problem: &Problem, trace: Option<&Path>) -> Result<PlanResult> {
        let trace = trace.map(c_path).transpose()?;
        let path = trace.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
        let mut result = sized_result();
        // SAFETY: the path is read during the call only, the struct's size is set.
        check(unsafe { sys::hoist_plan_simulate(problem.as_ptr(), self.as_ptr(), path, &mut result) })?;
        Ok(result)
    }

    /// One line an item: why it stays or moves.
    pub fn explain(&self, problem: &Problem) -> Result<String> {
        // SAFETY: the room is as long as said.
        text(|to, bytes| unsafe { sys::hoist_plan_explain(problem.as_ptr(), self.as_ptr(), to, bytes) })
    }
}

/// How replans stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplanStatus {
    /// Of the last request.
    pub state: ReplanState,
    /// Whether a request would be taken now.
    pub can_request: bool,
    /// Replans swapped in so far.
    pub applied: u64,
    /// Why the last one failed, or "".
    pub reason: String,
}

impl Manager {
    /// The present problem: measured units and links, the budget.
    pub fn problem(&mut self) -> Result<Problem> {
        // SAFETY: the handle is live.
        Problem::make(|out| unsafe { sys::hoist_manager_get_problem(self.as_ptr(), out) })
    }

    /// The plan that the manager serves, for the problem of [`Manager::problem`].
    pub fn plan(&mut self) -> Result<Plan> {
        // SAFETY: the handle is live.
        Plan::make(|out| unsafe { sys::hoist_manager_get_plan(self.as_ptr(), out) })
    }

    /// Times the units of each of the next steps, for a plan that is asked for after them; 0: 8.
    pub fn replan_prepare(&mut self, steps: u32) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_replan_prepare(self.as_ptr(), steps) })
    }

    /// Asks for another plan, which the next step's begin swaps in; None: made anew from what was measured.
    pub fn replan(&mut self, wanted: Option<(&Problem, &Plan)>) -> Result<()> {
        let null = (std::ptr::null_mut(), std::ptr::null_mut());
        let (problem, plan) = wanted.map_or(null, |(problem, plan)| (problem.as_ptr(), plan.as_ptr()));
        // SAFETY: the handles are live or NULL.
        check(unsafe { sys::hoist_replan_request(self.as_ptr(), problem, plan) })
    }

    /// Reads how replans stand.
    pub fn replan_status(&self) -> Result<ReplanStatus> {
        let struct_size = std::mem::size_of::<sys::hoist_replan_status_t>();
        let mut raw = sys::hoist_replan_status_t { struct_size, ..Default::default() };
        // SAFETY: the struct's size is set; the reason is valid until the manager's next call.
        let reason = unsafe {
            check(sys::hoist_replan_query(self.as_ptr(), &mut raw))?;
            string(raw.reason)
        };
        Ok(ReplanStatus { state: raw.state, can_request: raw.can_request != 0, applied: raw.applied, reason })
    }
}
