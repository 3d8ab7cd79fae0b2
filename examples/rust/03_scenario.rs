// SPDX-License-Identifier: Apache-2.0
//! A ring of six units on half of its bytes, with all that can happen to it: tests/bindings/SCENARIO.md.

use hoist::{Budget, BudgetOptions, BudgetStatus, Device, Manager, Phase, Source, Stream};
use hoist::{TensorClass, TensorId, Unit, UnitId, UseMode};
use std::sync::atomic::{AtomicU64, Ordering};

const UNITS: u8 = 6;
const WEIGHT: usize = 65536;
const SHARED: usize = 32768;
const SMALL: usize = 16384;

static WRONG_BYTES: AtomicU64 = AtomicU64::new(0);

type Failure = Box<dyn std::error::Error>;

fn print_error<T>(what: &str, result: hoist::Result<T>) {
    match result {
        Err(error) => println!("{what}: {}: {error}", hoist::status_string(error.code)),
        Ok(_) => panic!("no error: {what}"),
    }
}

struct Ring {
    manager: Manager,
    units: Vec<UnitId>,
    shared: TensorId,
    state: TensorId,
    steps: u8, // whole ones so far: what the state's bytes must be
}

impl Ring {
    fn new(device: &Device, budget: &Budget) -> hoist::Result<Self> {
        let (read, weight) = (UseMode::HOIST_USE_READ, TensorClass::HOIST_CLASS_WEIGHT);
        let mut manager = Manager::new(device, Some(budget))?;
        let units = (1..=UNITS).map(|u| manager.add_unit(&format!("u{u}"))).collect::<Result<Vec<_>, _>>()?;
        for (unit, u) in units.iter().zip(1..) {
            let bytes = Source::copy(vec![u; WEIGHT]);
            manager.add_tensor(*unit, &format!("u{u}.weight"), bytes, read, weight)?;
        }
        let shared = manager.add_tensor(units[0], "u1.shared", Source::copy(vec![1; SHARED]), read, weight)?;
        manager.add_alias("u4.shared", shared)?;
        manager.add_use(units[3], shared, read)?;
        let adopted = Source::Adopt(vec![2; SMALL].into_boxed_slice());
        manager.add_tensor(units[1], "u2.adopted", adopted, read, weight)?;
        let (rw, class) = (UseMode::HOIST_USE_READ_WRITE, TensorClass::HOIST_CLASS_STATE);
        let state = manager.add_tensor(units[5], "u6.state", Source::Zero(SMALL as u64), rw, class)?;
        Ok(Self { manager, units, shared, state, steps: 0 })
    }

    /// Runs a step; where the compute of unit `fail_at` fails, leaving the scope gives the step up.
    fn run_step(&mut self, stream: &Stream, fail_at: u8) -> Result<(), Failure> {
        let (shared, state, steps) = (self.shared, self.state, self.steps);
        let mut step = self.manager.step(stream)?;
        for (unit, u) in self.units.iter().zip(1..) {
            let unit = step.unit(*unit)?;
            compute(&unit, move |tensor| match tensor {
                _ if tensor == state => steps,
                _ if tensor == shared => 1,
                _ => u,
            })?;
            if u == fail_at {
                return Err(format!("u{u}").into());
            }
            unit.end()?;
        }
        step.end()?;
        self.steps += 1;
        Ok(())
    }

    fn run_steps(&mut self, stream: &Stream, count: u8) -> Result<(), Failure> {
        for _ in 0..count {
            self.run_step(stream, 0)?;
        }
        stream.wait()?;
        println!("{} whole steps, {} wrong bytes", self.steps, WRONG_BYTES.load(Ordering::Relaxed));
        Ok(())
    }

    fn read_back(&mut self) -> hoist::Result<()> {
        let names = [
            ("u1.weight", 1),
            ("u2.weight", 2),
            ("u3.weight", 3),
            ("u4.weight", 4),
            ("u5.weight", 5),
            ("u6.weight", 6),
            ("u1.shared", 1),
            ("u4.shared", 1),
            ("u2.adopted", 2),
            ("u6.state", self.steps),
        ];
        let mut right = 0;
        for (name, want) in names {
            let tensor = self.manager.tensor(name)?;
            let mut bytes = vec![0xEE; self.manager.info(tensor)?.bytes as usize];
            self.manager.read(tensor, &mut bytes)?;
            right += usize::from(bytes.iter().all(|&byte| byte == want));
        }
        println!("read back: {right} of {} names right, state {}", names.len(), self.steps);
        Ok(())
    }
}

fn compute(unit: &Unit<'_>, want: impl Fn(TensorId) -> u8 + Send + 'static) -> hoist::Result<()> {
    let check = move |tensors: &mut hoist::HostTensors| {
        for i in 0..tensors.len() {
            let want = want(tensors.tensor(i));
            let wrong = tensors.bytes(i).iter().filter(|&&byte| byte != want).count();
            WRONG_BYTES.fetch_add(wrong as u64, Ordering::Relaxed);
            for byte in tensors.bytes_mut(i).into_iter().flatten() {
                *byte += 1;
            }
        }
    };
    unit.submit_host(check, 100.0)
}

fn budget_of(device: &Device, share: &str) -> hoist::Result<Budget> {
    Budget::new(device, Some(BudgetOptions::new()?.set("budget", share)?.set("profile_steps", "2")?))
}

fn print_sizes(s: &BudgetStatus) {
    println!("{} units, {} tensors, {} bytes, budget {}", s.unit_count, s.tensor_count, s.tensor_bytes, s.budget_bytes);
}

fn report(s: &BudgetStatus) {
    let yes = |holds| if holds { "yes" } else { "no" };
    let phase = if s.phase == Phase::HOIST_PHASE_SERVING { "serving" } else { "not serving" };
    println!("{phase}, {} steps, {} aborted, {} mispredictions", s.steps, s.aborted_steps, s.mispredictions);
    let (h2d, d2h) = (yes(s.h2d_bytes > 0), yes(s.d2h_bytes > 0));
    println!("bytes moved: h2d {h2d}, d2h {d2h}; peak within budget: {}", yes(s.peak_bytes <= s.budget_bytes));
}

fn main() -> Result<(), Failure> {
    let device = Device::open("host:0?mode=threaded")?;
    print_error("unknown option", BudgetOptions::new()?.set("bugdet", "50%"));
    print_error("too small", Ring::new(&device, &budget_of(&device, "20%")?)?.manager.commit());

    let budget = budget_of(&device, "50%")?;
    let mut ring = Ring::new(&device, &budget)?;
    let stream = Stream::new(&device)?;
    ring.manager.commit()?;
    print_sizes(&ring.manager.query()?);
    ring.run_steps(&stream, 4)?;
    let failure = ring.run_step(&stream, 3).expect_err("its compute fails");
    println!("gave a step up in {failure}");
    ring.manager.suspend()?;
    ring.manager.resume()?;
    ring.run_steps(&stream, 2)?;
    ring.read_back()?;
    budget.set_share(0.75)?;
    ring.run_steps(&stream, 2)?;
    print_sizes(&ring.manager.query()?);
    print_error("too small", budget.set_share(0.2));
    ring.read_back()?;
    report(&ring.manager.query()?);
    ring.manager.drain()?;
    match WRONG_BYTES.load(Ordering::Relaxed) {
        0 => Ok(()),
        wrong => Err(format!("{wrong} wrong bytes").into()),
    }
}
