// SPDX-License-Identifier: Apache-2.0
//! Finds libhoist: in LIBHOIST_DIR where it is set (a build tree), else by pkg-config.

use std::path::Path;

fn refuse(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(1)
}

/// A relative path would be taken from this crate's folder, not from the caller's.
fn check(folder: &str) {
    let path = Path::new(folder);
    if !path.is_absolute() || !path.join("libhoist.so").exists() {
        refuse(&format!("LIBHOIST_DIR is '{folder}'; give the absolute path of the folder that libhoist.so lies in"));
    }
}

fn main() {
    println!("cargo:rerun-if-env-changed=LIBHOIST_DIR");
    match std::env::var("LIBHOIST_DIR") {
        Ok(folder) => {
            check(&folder);
            println!("cargo:rustc-link-search=native={folder}");
            println!("cargo:rustc-link-lib=dylib=hoist");
        }
        Err(_) => {
            let version = env!("CARGO_PKG_VERSION");
            if let Err(error) = pkg_config::Config::new().atleast_version(version).probe("hoist") {
                refuse(&format!(
                    "libhoist {version} is not known to pkg-config, and LIBHOIST_DIR, the absolute path of the folder \
                     that libhoist.so lies in, is not set: {error}"
                ));
            }
        }
    }
}
