/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Macros that every public header uses. Nothing here is called.
 */
#ifndef HOIST_EXPORT_H
#define HOIST_EXPORT_H

#if defined(__GNUC__)
#define HOIST_API __attribute__((visibility("default")))
#define HOIST_NODISCARD __attribute__((warn_unused_result))
#else
#define HOIST_API
#define HOIST_NODISCARD
#endif

#ifdef __cplusplus
#define HOIST_NOEXCEPT noexcept
#define HOIST_BEGIN_DECLS extern "C" {
#define HOIST_END_DECLS }
#else
#define HOIST_NOEXCEPT
#define HOIST_BEGIN_DECLS
#define HOIST_END_DECLS
#endif

#endif /* HOIST_EXPORT_H */
