# SPDX-License-Identifier: Apache-2.0
# The plugin that unit.device.plugin_test loads.
add_library(hoist_test_plugin MODULE ${CMAKE_CURRENT_SOURCE_DIR}/unit/device/plugin/plugin.c)
target_include_directories(hoist_test_plugin PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(unit.device.plugin_test PRIVATE HOIST_TEST_PLUGIN="$<TARGET_FILE:hoist_test_plugin>")
add_dependencies(unit.device.plugin_test hoist_test_plugin)
