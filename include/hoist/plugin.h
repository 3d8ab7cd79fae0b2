/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Kinds of devices in shared objects of their own.
 *
 * A plugin is loaded by hoist_plugin_load, or on first use of a device where the environment variable
 * HOIST_DEVICE_PLUGINS lists it: name=path,name=path, the name being its kind of device, which may be left out. One
 * that cannot be loaded is an error of that use. In Python, entry points of the group hoist.device_plugins are loaded,
 * too. A plugin is never unloaded. Whoever writes one: doc/writing-a-device.md and hoist/device_ops.h.
 */
#ifndef HOIST_PLUGIN_H
#define HOIST_PLUGIN_H

#include "hoist/status.h"

HOIST_BEGIN_DECLS

/**
 * @brief Loads a plugin: its devices can be opened from now on. Again for the same file: nothing happens.
 * @param path As for dlopen: with a slash it is a path, else a name that the loader searches. Read during the call
 * only.
 * @param[out] out_kind Its kind of device, such as "npu" for npu:0. Static. NULL: not wanted.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND where it cannot be loaded; HOIST_ERROR_INVALID_ARGUMENT where it is no
 * plugin, or its table is cut short, lacks a required slot, or comes from the future or the past;
 *         HOIST_ERROR_ALREADY_EXISTS naming who has its kind already; HOIST_ERROR_UNSUPPORTED where it serves no level
 * of this library; the status that its init gave; for other plugins as hoist_device_count.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plugin_load(const char* path, const char** out_kind) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_PLUGIN_H */
