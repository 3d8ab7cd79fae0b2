// SPDX-License-Identifier: Apache-2.0
//! The main loop: weights of eight layers stream through a budget of half their bytes, step after step.

use hoist::{Budget, BudgetOptions, Device, Manager, Source, Stream, TensorClass, UnitId, UseMode};
use std::sync::{Arc, Mutex};

const LAYERS: usize = 8;
const WEIGHTS: usize = 64 * 1024;
const STEPS: usize = 10;

/// Sums a layer's weights; on the device's own bytes.
fn sum(bytes: &[u8]) -> f64 {
    let weights = bytes.chunks_exact(4).map(|four| f32::from_ne_bytes(four.try_into().expect("four bytes")));
    weights.map(f64::from).sum()
}

fn committed(device: &Device, weights: &[Vec<u8>]) -> hoist::Result<(Manager, Vec<UnitId>)> {
    let budget = Budget::new(device, Some(BudgetOptions::new()?.set("budget", "50%")?))?;
    let mut manager = Manager::new(device, Some(&budget))?; // keeps the budget alive
    let mut units = Vec::new();
    for (layer, weight) in weights.iter().enumerate() {
        let name = format!("layers.{layer}");
        let unit = manager.add_unit(&name)?;
        let source = Source::copy(weight.clone()); // packed into pinned memory at commit, then dropped
        manager.add_tensor(unit, &name, source, UseMode::HOIST_USE_READ, TensorClass::HOIST_CLASS_WEIGHT)?;
        units.push(unit);
    }
    manager.commit()?;
    Ok((manager, units))
}

fn main() -> hoist::Result<()> {
    let weights: Vec<Vec<u8>> = (1..=LAYERS).map(|layer| (layer as f32).to_ne_bytes().repeat(WEIGHTS)).collect();
    let resident: f64 = weights.iter().map(|weight| sum(weight)).sum();
    let device = Device::open("host:0")?;
    let (mut manager, units) = committed(&device, &weights)?;
    let stream = Stream::new(&device)?;
    let outputs = Arc::new(Mutex::new([0.0; STEPS]));
    for number in 0..STEPS {
        let mut step = manager.step(&stream)?;
        for unit in &units {
            let unit = step.unit(*unit)?; // the stream waits on the device for the layer's bytes
            let outputs = Arc::clone(&outputs);
            unit.submit_host(move |tensors| outputs.lock().unwrap()[number] += sum(tensors.bytes(0)), 100.0)?;
            unit.end()?; // once the stream gets here, the layer's places may be refilled
        }
        step.end()?;
    }
    stream.wait()?;

    let exact = outputs.lock().unwrap().iter().all(|&output| output == resident);
    let status = manager.query()?;
    let within = if status.peak_bytes <= status.budget_bytes { "yes" } else { "no" };
    let moved = if status.last_step_h2d_bytes > 0 { "some" } else { "none" };
    println!("weights {} bytes, budget {} bytes, peak within it: {within}", status.tensor_bytes, status.budget_bytes);
    println!("steps {}, bytes moved in the last one: {moved}", status.steps);
    println!("parity: {}", if exact { "exact" } else { "LOST" });
    std::process::exit(i32::from(!exact))
}
