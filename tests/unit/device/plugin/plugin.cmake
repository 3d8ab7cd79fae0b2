# SPDX-License-Identifier: Apache-2.0
# The plugin that unit.device.plugin_test loads, and the same again as another file.
foreach(name IN ITEMS hoist_test_plugin hoist_test_plugin_twin)
  add_library(${name} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/unit/device/plugin/plugin.c)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  add_dependencies(unit.device.plugin_test ${name})
endforeach()
target_compile_definitions(unit.device.plugin_test PRIVATE HOIST_TEST_PLUGIN="$<TARGET_FILE:hoist_test_plugin>"
  HOIST_TEST_PLUGIN_TWIN="$<TARGET_FILE:hoist_test_plugin_twin>")
