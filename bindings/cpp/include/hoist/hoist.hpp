// SPDX-License-Identifier: Apache-2.0
// hoist for C++20: move-only owners, scopes and exceptions over the C ABI, header-only. The calls, their
// units and their errors are documented in the C headers of the same names; nothing here adds a default.
#pragma once

#include "hoist/checkpoint.hpp"
#include "hoist/device.hpp"
#include "hoist/dlpack.hpp"
#include "hoist/effect.hpp"
#include "hoist/error.hpp"
#include "hoist/graph.hpp"
#include "hoist/manager.hpp"
#include "hoist/plan.hpp"
#include "hoist/step.hpp"
