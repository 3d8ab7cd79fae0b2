// SPDX-License-Identifier: Apache-2.0
//! What all owners of a C handle share.

/// Defines the owner of one handle: as_ptr and Drop.
macro_rules! owner {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $destroy:ident) => {
        $(#[$doc])*
        pub struct $name(pub(crate) std::ptr::NonNull<hoist_sys::$raw>);

        impl $name {
            /// The C handle; it stays this object's.
            pub fn as_ptr(&self) -> *mut hoist_sys::$raw {
                self.0.as_ptr()
            }

            #[allow(dead_code)]
            pub(crate) fn make(
                create: impl FnOnce(*mut *mut hoist_sys::$raw) -> hoist_sys::hoist_status_t,
            ) -> crate::Result<Self> {
                let mut handle = std::ptr::null_mut();
                crate::error::check(create(&mut handle))?;
                Ok(Self(std::ptr::NonNull::new(handle).expect("a created handle")))
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: this object owns the handle and is not used again.
                unsafe { hoist_sys::$destroy(self.0.as_ptr()) }
            }
        }
    };
}
pub(crate) use owner;
