/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief All of hoist for its users. Authors of devices include hoist/device_ops.h too.
 */
#ifndef HOIST_HOIST_H
#define HOIST_HOIST_H

#include "hoist/budget.h"
#include "hoist/checkpoint.h"
#include "hoist/device.h"
#include "hoist/effect.h"
#include "hoist/graph.h"
#include "hoist/host_memory.h"
#include "hoist/manager.h"
#include "hoist/plan.h"
#include "hoist/plugin.h"
#include "hoist/status.h"
#include "hoist/step.h"
#include "hoist/timing.h"
#include "hoist/trace.h"
#include "hoist/version.h"

#endif /* HOIST_HOIST_H */
