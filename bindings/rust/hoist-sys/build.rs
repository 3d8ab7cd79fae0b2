// SPDX-License-Identifier: Apache-2.0
//! Finds libhoist: in LIBHOIST_DIR where it is set (a build tree), else by pkg-config.

fn main() {
    println!("cargo:rerun-if-env-changed=LIBHOIST_DIR");
    match std::env::var("LIBHOIST_DIR") {
        Ok(folder) => {
            println!("cargo:rustc-link-search=native={folder}");
            println!("cargo:rustc-link-lib=dylib=hoist");
        }
        Err(_) => {
            let version = env!("CARGO_PKG_VERSION");
            if let Err(error) = pkg_config::Config::new().atleast_version(version).probe("hoist") {
                panic!("libhoist {version} is neither in LIBHOIST_DIR nor known to pkg-config: {error}");
            }
        }
    }
}
