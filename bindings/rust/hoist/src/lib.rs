// SPDX-License-Identifier: Apache-2.0
//! hoist moves model weights, states and activations between host and device under one byte budget.
//!
//! This crate is a thin, safe layer over the C ABI (`hoist-sys`): owners with `Drop`, scopes with
//! lifetimes, `Result`. Contracts, units and errors are those of the C headers of the same names; sizes
//! are bytes, times are microseconds. Nothing here adds a default.
//!
//! ```no_run
//! use hoist::{Budget, BudgetOptions, Device, Manager, Source, Stream, TensorClass, UseMode};
//! # fn main() -> hoist::Result<()> {
//! let device = Device::open("host:0?mode=threaded")?;
//! let budget = Budget::new(&device, Some(BudgetOptions::new()?.set("budget", "50%")?))?;
//! let mut manager = Manager::new(&device, Some(&budget))?;
//! let unit = manager.add_unit("layers.0")?;
//! let weight = Source::copy(vec![1u8; 4096]);
//! manager.add_tensor(unit, "w", weight, UseMode::HOIST_USE_READ, TensorClass::HOIST_CLASS_WEIGHT)?;
//! manager.commit()?;
//! let stream = Stream::new(&device)?;
//! for _ in 0..3 {
//!     let mut step = manager.step(&stream)?;
//!     let unit = step.unit(unit)?;
//!     unit.submit_host(|tensors| assert_eq!(tensors.bytes(0)[0], 1), 100.0)?;
//!     unit.end()?;
//!     step.end()?;
//! }
//! # Ok(())
//! # }
//! ```

mod budget;
mod checkpoint;
mod device;
mod effect;
mod error;
mod graph;
mod handle;
mod manager;
mod plan;
mod step;
mod stream;

pub use budget::{Budget, BudgetOptions, BudgetStatus, Phase};
pub use checkpoint::{Checkpoint, CheckpointTensor, TensorBytes};
pub use device::{device_count, device_properties, plugin_load, Device, DeviceProperties, HostMemory, Memory};
pub use effect::{EffectId, Sequence, SequenceStatus, Token};
pub use error::{log_set, status_string, version_abi, version_string, Code, Error, LogLevel, Result};
pub use graph::{Graph, Placement, ReplayState, ReplayStatus};
pub use manager::{Manager, Source, TensorClass, TensorId, TensorInfo, UnitId, UnitTiming, UseMode};
pub use plan::{Plan, PlanResult, Problem, ReplanState, ReplanStatus};
pub use step::{HostTensors, Step, TensorView, Unit};
pub use stream::{elapsed_us, CopyKind, Event, Stream};
