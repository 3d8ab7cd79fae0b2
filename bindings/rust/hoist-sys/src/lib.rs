// SPDX-License-Identifier: Apache-2.0
//! Declarations of hoist's C ABI, generated from its headers, which document them. Use the crate `hoist` instead, unless you
//! write a device or need a call that it leaves out.
#![no_std]
#![allow(non_camel_case_types)]
#![allow(clippy::all, rustdoc::all)]

include!("generated.rs");
