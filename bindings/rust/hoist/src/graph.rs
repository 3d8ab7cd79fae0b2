// SPDX-License-Identifier: Apache-2.0
//! Work that is captured once and launched again, and replays of captured steps.

use crate::error::{check, string};
use crate::handle::owner;
use crate::{Manager, Result, Stream};
use hoist_sys as sys;

/// How replays stand.
pub use hoist_sys::hoist_replay_state_t as ReplayState;

/// Where tensors lie on the device.
pub use hoist_sys::hoist_placement_t as Placement;

owner! {
    /// Captured work, ready to be launched.
    Graph, hoist_graph_t, hoist_graph_destroy
}
// SAFETY: @externsync calls may come from any thread, one at a time.
unsafe impl Send for Graph {}

/// Counts of replays.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayStatus {
    /// How they stand.
    pub state: ReplayState,
    /// In force.
    pub placement: Placement,
    /// Steps that were captured.
    pub captures: u64,
    /// Replays that have begun.
    pub begun: u64,
    /// Of these, whose copies have all run.
    pub ended: u64,
    /// Let go without their bytes: what they computed is worth nothing.
    pub aborted: u64,
    /// From one replay's begin to the next one's, in µs.
    pub last_us: f64,
    /// What the device said last, or "".
    pub reason: String,
}

impl Stream {
    /// From here on the stream's work goes into a graph instead of running.
    /// # Safety
    /// What is submitted until the end uses bytes that live as long as the graph, and no function of `submit_host`,
    /// which runs once.
    pub unsafe fn capture_begin(&mut self) -> Result<()> {
        // SAFETY: as the caller promised.
        check(unsafe { sys::hoist_capture_begin(self.as_ptr()) })
    }

    /// Ends the capture, on failure too.
    pub fn capture_end(&mut self) -> Result<Graph> {
        // SAFETY: the handle is live.
        Graph::make(|out| unsafe { sys::hoist_capture_end(self.as_ptr(), out) })
    }
}

impl Graph {
    /// Submits the graph's work to the stream; launches of one graph run one after the other.
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        // SAFETY: both handles are live.
        check(unsafe { sys::hoist_graph_launch(self.as_ptr(), stream.as_ptr()) })
    }
}

impl Manager {
    /// Reads how replays of captured steps stand; waits for none.
    pub fn replay_status(&mut self) -> Result<ReplayStatus> {
        let struct_size = std::mem::size_of::<sys::hoist_replay_status_t>();
        let mut raw = sys::hoist_replay_status_t { struct_size, ..Default::default() };
        // SAFETY: the struct's size is set; the reason is valid until the manager's next call.
        let reason = unsafe {
            check(sys::hoist_replay_query(self.as_ptr(), &mut raw))?;
            string(raw.reason)
        };
        Ok(ReplayStatus {
            state: raw.state,
            placement: raw.placement,
            captures: raw.captures,
            begun: raw.begun,
            ended: raw.ended,
            aborted: raw.aborted,
            last_us: raw.last_us,
            reason,
        })
    }

    /// Lets replays go that wait for bytes that do not come; the library takes this call from any thread.
    pub fn replay_abort(&self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_replay_abort(self.as_ptr()) })
    }

    /// Says that no graph with a step of this budget is launched any more.
    pub fn replay_release(&mut self) -> Result<()> {
        // SAFETY: the handle is live.
        check(unsafe { sys::hoist_replay_release(self.as_ptr()) })
    }
}
