// SPDX-License-Identifier: Apache-2.0
//! `hoist-bindgen INCLUDE OUT` writes the declarations of the headers in INCLUDE to OUT;
//! `hoist-bindgen --check INCLUDE FILE` fails where FILE is not what would be written.

use std::{env, fs, process::ExitCode};

fn generate(include: &str) -> String {
    bindgen::Builder::default()
        .header_contents("all.h", "#include \"hoist/hoist.h\"\n#include \"hoist/device_ops.h\"\n")
        .clang_args([format!("-I{include}"), "-std=c11".into()])
        .generate_comments(false) // the headers have them, and their wording changes more often than the ABI
        .allowlist_item("(hoist|HOIST)_.*")
        // A newer library may return a value that these headers do not know: never a Rust enum.
        .default_enum_style(bindgen::EnumVariation::NewType { is_bitfield: false, is_global: false })
        .prepend_enum_name(false)
        .derive_default(true)
        .size_t_is_usize(true)
        .use_core()
        .rust_target(bindgen::RustTarget::stable(77, 0).expect("a known version"))
        .formatter(bindgen::Formatter::Prettyplease)
        .disable_header_comment()
        .raw_line("// SPDX-License-Identifier: Apache-2.0")
        .raw_line("// Written by hoist-bindgen from include/hoist; a test checks that it is up to date.")
        .generate()
        .expect("the headers are understood")
        .to_string()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--check", include, file] => {
            if fs::read_to_string(file).expect("the committed file") == generate(include) {
                return ExitCode::SUCCESS;
            }
            eprintln!("{file} is not up to date: run hoist-bindgen {include} {file}");
            ExitCode::FAILURE
        }
        [include, file] => {
            fs::write(file, generate(include)).expect("the file can be written");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: hoist-bindgen [--check] INCLUDE FILE");
            ExitCode::FAILURE
        }
    }
}
