// SPDX-License-Identifier: Apache-2.0
//! Effects run in order or not at all; errors and panics come out of submit.

use hoist::*;
use std::sync::{Arc, Mutex};

#[test]
fn effects_run_in_order_or_not_at_all() {
    let device = Device::open("host:0?mode=threaded").unwrap();
    let stream = Stream::new(&device).unwrap();
    let mut sequence = Sequence::new(&device, "graph").unwrap();
    let ran = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&ran);
    let first = sequence.add("first", move |given| {
        note.lock().unwrap().push(given.is_some());
        given.map_or(Ok(()), Stream::wait)
    });
    let note = Arc::clone(&ran);
    let second = sequence.add("second", move |given| {
        note.lock().unwrap().push(given.is_some());
        Ok(())
    });
    let (first, second) = (first.unwrap(), second.unwrap());
    let begun = sequence.begin().unwrap();
    let error = sequence.submit(second, None, begun).unwrap_err();
    assert_eq!(error.code, Code::HOIST_ERROR_ORDER);
    assert!(error.message.contains("\"second\"") && error.message.contains("\"first\""), "{error}");
    let token = sequence.submit(first, Some(&stream), begun).unwrap();
    let token = sequence.submit(second, None, token).unwrap();
    sequence.end(token).unwrap();
    assert_eq!(*ran.lock().unwrap(), [true, false]);
    let status = sequence.query().unwrap();
    assert_eq!((status.runs, status.submitted, status.refused), (1, 2, 1));
}

#[test]
fn errors_and_panics_come_out_of_submit() {
    let device = Device::open("host:0?mode=threaded").unwrap();
    let mut sequence = Sequence::new(&device, "graph").unwrap();
    let mut calls = 0;
    let effect = sequence.add("act", move |_| {
        calls += 1;
        match calls {
            1 => Err(Device::open("nothing:7").err().unwrap()),
            2 => panic!("the effect's own"),
            _ => Ok(()),
        }
    });
    let effect = effect.unwrap();
    let token = sequence.begin().unwrap();
    assert_eq!(sequence.submit(effect, None, token).unwrap_err().where_, "hoist_device_open");
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sequence.submit(effect, None, token)));
    assert_eq!(*panic.unwrap_err().downcast_ref::<&str>().unwrap(), "the effect's own");
    let token = sequence.submit(effect, None, token).unwrap();
    sequence.end(token).unwrap();
    let _open = sequence.begin().unwrap();
    sequence.abort().unwrap();
    assert_eq!(sequence.query().unwrap().aborted_runs, 1);
}
