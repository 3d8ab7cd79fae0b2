# SPDX-License-Identifier: Apache-2.0
# The manager's tests once more, on a plugin's device in the place of the threaded host device (support/in_place_of.hpp).
# Tests that name another mode of the host device are left out: the first run has them.
function(hoist_on_plugin program)
  add_test(NAME plugin.${program} COMMAND ${program} ${ARGN})
  set_tests_properties(plugin.${program} PROPERTIES LABELS plugin ENVIRONMENT
    "HOIST_TRUST=1;HOIST_TEST_DEVICES=my:0;HOIST_DEVICE_PLUGINS=my=$<TARGET_FILE:my_device>")
  add_dependencies(${program} my_device)
endfunction()

set(other_modes "*nline*:*uarded*:*irtual*")
hoist_on_plugin(conformance.manager_on_device_test)
hoist_on_plugin(unit.offload.manager_test --gtest_filter=-${other_modes})
hoist_on_plugin(stress.faults_test --gtest_filter=-${other_modes})
hoist_on_plugin(stress.ring_test --gtest_filter=-${other_modes})
hoist_on_plugin(stress.steady_test --gtest_filter=-${other_modes})
hoist_on_plugin(stress.waits_test --gtest_filter=-${other_modes})
hoist_on_plugin(capi.budget_bytes_test)
hoist_on_plugin(capi.budget_reserve_test)
hoist_on_plugin(capi.budget_life_test)
hoist_on_plugin(capi.one_budget_test)
file(GLOB cases CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/cases ${CMAKE_CURRENT_SOURCE_DIR}/cases/*_test.cpp)
foreach(case IN LISTS cases)
  string(REPLACE ".cpp" "" case ${case})
  hoist_on_plugin(cases.${case})
endforeach()
