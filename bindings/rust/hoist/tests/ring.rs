// SPDX-License-Identifier: Apache-2.0
//! Scopes, owners and errors of the safe crate, on a ring of four units that does not fit.

use hoist::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const BYTES: usize = 8192;
const READ: UseMode = UseMode::HOIST_USE_READ;
const WEIGHT: TensorClass = TensorClass::HOIST_CLASS_WEIGHT;

struct Ring {
    manager: Manager,
    stream: Stream,
    device: Device,
    units: Vec<UnitId>,
}

fn building() -> Ring {
    let device = Device::open("host:0?mode=threaded").unwrap();
    let options = BudgetOptions::new().unwrap().set("budget", "50%").unwrap().set("profile_steps", "1").unwrap();
    let budget = Budget::new(&device, Some(options)).unwrap();
    let mut manager = Manager::new(&device, Some(&budget)).unwrap();
    let units: Vec<_> = (0..4).map(|u| manager.add_unit(&format!("u{u}")).unwrap()).collect();
    for (unit, value) in units.iter().zip(1u8..) {
        manager.add_tensor(*unit, &format!("w{}", unit.0), Source::copy(vec![value; BYTES]), READ, WEIGHT).unwrap();
    }
    let stream = Stream::new(&device).unwrap();
    Ring { manager, stream, device, units }
}

fn ring() -> Ring {
    let mut ring = building();
    ring.manager.commit().unwrap();
    ring
}

impl Ring {
    fn step(&mut self, compute: impl Fn(&Unit<'_>) -> Result<()>) -> Result<()> {
        let mut step = self.manager.step(&self.stream)?;
        for unit in &self.units {
            let unit = step.unit(*unit)?;
            compute(&unit)?;
            unit.end()?;
        }
        step.end()
    }
}

#[test]
fn units_see_their_bytes() {
    let mut ring = ring();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..4 {
        let seen = Arc::clone(&seen);
        ring.step(|unit| {
            let seen = Arc::clone(&seen);
            assert_eq!(unit.len(), 1);
            unit.submit_host(
                move |tensors| {
                    let first = tensors.bytes(0)[0];
                    assert!(tensors.bytes(0).iter().all(|&byte| byte == first));
                    assert!(tensors.bytes_mut(0).is_none(), "a unit that only reads");
                    seen.lock().unwrap().push(first);
                },
                10.0,
            )
        })
        .unwrap();
    }
    ring.stream.wait().unwrap();
    assert_eq!(*seen.lock().unwrap(), [1, 2, 3, 4].repeat(4));
    let status = ring.manager.query().unwrap();
    assert_eq!((status.steps, status.aborted_steps, status.mispredictions), (4, 0, 0));
    assert!(status.last_step_h2d_bytes > 0);
}

#[test]
fn an_error_that_leaves_a_step_gives_it_up() {
    let mut ring = ring();
    let failure = ring.step(|unit| ring_error(unit.get(0).unwrap().tensor()));
    assert_eq!(failure.unwrap_err().message, "compute of 2");
    assert_eq!(ring.manager.query().unwrap().aborted_steps, 1);
    ring.step(|_| Ok(())).unwrap();
}

fn ring_error(tensor: TensorId) -> Result<()> {
    if tensor.0 < 2 {
        return Ok(());
    }
    let (where_, hint) = (String::new(), String::new());
    Err(Error { code: Code::HOIST_ERROR_DEVICE, message: format!("compute of {}", tensor.0), where_, hint })
}

#[test]
fn a_dropped_unit_ends_and_a_forgotten_one_is_told() {
    let mut ring = ring();
    let mut step = ring.manager.step(&ring.stream).unwrap();
    drop(step.unit(ring.units[0]).unwrap());
    drop(step.unit(ring.units[1]).unwrap());
    step.end().unwrap();
    let mut step = ring.manager.step(&ring.stream).unwrap();
    std::mem::forget(step.unit(ring.units[0]).unwrap());
    assert_eq!(step.end().unwrap_err().code, Code::HOIST_ERROR_ORDER);
    assert_eq!(ring.manager.query().unwrap().aborted_steps, 1);
    ring.step(|_| Ok(())).unwrap();
}

/// Counts its drops.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn sources_are_dropped_once_by_commit_refusal_or_end() {
    let drops = Arc::new(AtomicUsize::new(0));
    let source = || Source::copy(Counted(vec![7; BYTES], Arc::clone(&drops)));
    let mut ring = building();
    let unit = ring.units[0];
    let tensor = ring.manager.add_tensor(unit, "extra", source(), READ, WEIGHT).unwrap();
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    let taken = ring.manager.add_tensor(unit, "extra", source(), READ, WEIGHT).unwrap_err();
    assert_eq!((taken.code, drops.load(Ordering::SeqCst)), (Code::HOIST_ERROR_ALREADY_EXISTS, 1));
    ring.manager.commit().unwrap();
    assert_eq!(drops.load(Ordering::SeqCst), 2);
    let mut bytes = vec![0; BYTES];
    ring.manager.read(tensor, &mut bytes).unwrap();
    assert_eq!(bytes, [7; BYTES]);
    let mut never_committed = building();
    never_committed.manager.add_tensor(unit, "extra", source(), READ, WEIGHT).unwrap();
    drop(never_committed);
    assert_eq!(drops.load(Ordering::SeqCst), 3);
}

#[test]
fn written_bytes_come_back() {
    let mut ring = building();
    let (mode, class) = (UseMode::HOIST_USE_READ_WRITE, TensorClass::HOIST_CLASS_STATE);
    let adopted = Source::Adopt(vec![5; BYTES].into_boxed_slice());
    let state = ring.manager.add_tensor(ring.units[2], "state", adopted, mode, class).unwrap();
    ring.manager.commit().unwrap();
    for _ in 0..5 {
        ring.step(|unit| {
            unit.submit_host(|tensors| (0..tensors.len()).for_each(|i| count_up(tensors.bytes_mut(i))), 1.0)
        })
        .unwrap();
    }
    let mut bytes = vec![0; BYTES];
    ring.manager.read(state, &mut bytes).unwrap();
    assert_eq!(bytes, [10; BYTES]);
    let version = ring.manager.info(state).unwrap().version;
    ring.manager.update(state, &[1; BYTES], &ring.stream).unwrap();
    ring.manager.read(state, &mut bytes).unwrap();
    assert_eq!(bytes, [1; BYTES]);
    assert!(ring.manager.info(state).unwrap().version > version);
}

fn count_up(bytes: Option<&mut [u8]>) {
    bytes.into_iter().flatten().for_each(|byte| *byte += 1);
}

#[test]
fn errors_say_what_would_do() {
    let ring = ring();
    let error = ring.manager.tensor("w7").unwrap_err();
    assert_eq!((error.code, error.where_.as_str()), (Code::HOIST_ERROR_NOT_FOUND, "hoist_manager_get_tensor"));
    assert_eq!(error.to_string(), format!("{}: {} ({})", error.where_, error.message, error.hint));
    assert_eq!(ring.manager.tensor("w\0").unwrap_err().code, Code::HOIST_ERROR_INVALID_ARGUMENT);
    let shut = Device::open("host:0?mode=inline").err().unwrap();
    assert_eq!(shut.code, Code::HOIST_ERROR_ALREADY_EXISTS);
}

#[test]
fn functions_run_once_in_order_and_are_freed() {
    let ring = ring();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for i in 0..50 {
        let seen = Arc::clone(&seen);
        ring.stream.submit_host(move || seen.lock().unwrap().push(i), 1.0).unwrap();
    }
    let mut event = Event::new(&ring.device).unwrap();
    event.record(&ring.stream).unwrap();
    event.wait().unwrap();
    assert!(event.poll().unwrap());
    ring.stream.wait().unwrap();
    assert_eq!(*seen.lock().unwrap(), (0..50).collect::<Vec<_>>());
    assert_eq!(Arc::strong_count(&seen), 1);
}

#[test]
fn owners_go_to_other_threads() {
    let mut ring = ring();
    let worker = std::thread::spawn(move || {
        ring.step(|_| Ok(())).unwrap();
        ring.manager.drain().unwrap();
        ring.manager.query().unwrap().steps
    });
    assert_eq!(worker.join().unwrap(), 1);
    fn shared<T: Sync + Send>() {}
    shared::<Device>();
    shared::<Problem>();
    shared::<Plan>();
    shared::<Checkpoint>();
    shared::<Event>();
}

#[test]
fn plans_are_exchanged() {
    let mut ring = ring();
    (0..3).for_each(|_| ring.step(|_| Ok(())).unwrap());
    let (problem, plan) = (ring.manager.problem().unwrap(), ring.manager.plan().unwrap());
    plan.check(&problem).unwrap();
    let again = Plan::from_json(&problem, &plan.to_json().unwrap()).unwrap();
    assert_eq!(again.to_json().unwrap(), plan.to_json().unwrap());
    assert_eq!(Problem::from_json(&problem.to_json().unwrap()).unwrap().to_json(), problem.to_json());
    let simulated = again.simulate(&problem, None).unwrap();
    assert!(simulated.step_us >= problem.bound().unwrap().step_us * (1.0 - 1e-9));
    assert!(plan.explain(&problem).unwrap().contains("w3"));
    Plan::solve(&problem, 0, 0.0).unwrap().check(&problem).unwrap();
    ring.manager.replan_prepare(0).unwrap();
    ring.manager.replan(Some((&problem, &again))).unwrap();
    assert_eq!(ring.manager.replan_status().unwrap().state, ReplanState::HOIST_REPLAN_PENDING);
    ring.step(|_| Ok(())).unwrap();
    assert_eq!(ring.manager.replan_status().unwrap().state, ReplanState::HOIST_REPLAN_APPLIED);
}

#[test]
fn a_checkpoint_streams() {
    let folder = std::env::temp_dir().join(format!("hoist-rust-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("model.safetensors");
    let header = br#"{"a":{"dtype":"U8","shape":[2,4],"data_offsets":[0,8]}}"#;
    let parts = [&(header.len() as u64).to_le_bytes()[..], &header[..], &[9; 8]];
    std::fs::write(&path, parts.concat()).unwrap();
    let checkpoint = Arc::new(Checkpoint::open(&path).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    let tensor = checkpoint.tensor(checkpoint.index("a").unwrap()).unwrap();
    assert_eq!((tensor.name, tensor.dtype, tensor.shape(), tensor.data), ("a", "U8", &[2, 4][..], &[9; 8][..]));
    let source = Source::copy(checkpoint.bytes(0).unwrap());
    let mut ring = building();
    let streamed = ring.manager.add_tensor(ring.units[0], "a", source, READ, WEIGHT).unwrap();
    drop(checkpoint);
    ring.manager.commit().unwrap();
    let mut bytes = [0; 8];
    ring.manager.read(streamed, &mut bytes).unwrap();
    assert_eq!(bytes, [9; 8]);
}

#[test]
fn devices_are_described_and_plugins_named() {
    assert!(device_count().unwrap() >= 2);
    assert_eq!(device_properties(1).unwrap().name, "host:1");
    let error = plugin_load("/nowhere/libnpu.so").unwrap_err();
    assert!(error.to_string().contains("'/nowhere/libnpu.so'"), "{error}");
}

#[test]
fn captured_steps_are_replayed() {
    let mut ring = ring();
    for _ in 0..4 {
        ring.step(|_| Ok(())).unwrap();
    }
    // SAFETY: nothing is submitted but the step's own work.
    unsafe { ring.stream.capture_begin() }.unwrap();
    ring.step(|_| Ok(())).unwrap();
    let mut graph = ring.stream.capture_end().unwrap();
    for _ in 0..10 {
        graph.launch(&ring.stream).unwrap();
    }
    assert_eq!(ring.manager.replan(None).unwrap_err().code, Code::HOIST_ERROR_INVALID_STATE);
    ring.stream.wait().unwrap();
    let status = ring.manager.replay_status().unwrap();
    assert_eq!((status.captures, status.begun, status.aborted), (1, 10, 0));
    assert_eq!((status.state, status.placement), (ReplayState::HOIST_REPLAY_OPEN, Placement::HOIST_PLACEMENT_ARENA));
    ring.manager.replay_abort().unwrap();
    ring.manager.replay_release().unwrap();
    ring.manager.replan(None).unwrap();
}
