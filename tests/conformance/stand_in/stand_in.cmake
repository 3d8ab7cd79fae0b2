# SPDX-License-Identifier: Apache-2.0
# The cuda device over stand-ins for its driver, on machines without a GPU. Each stand-in is a libcuda.so.1 in a
# folder of its own, found by LD_LIBRARY_PATH.
add_library(stand_in_parts OBJECT ${CMAKE_CURRENT_LIST_DIR}/memory.cpp ${CMAKE_CURRENT_LIST_DIR}/work.cpp)
foreach(age IN ITEMS new old ancient)
  string(TOUPPER ${age} definition)
  add_library(stand_in_${age} SHARED ${CMAKE_CURRENT_LIST_DIR}/libcuda.cpp $<TARGET_OBJECTS:stand_in_parts>)
  target_compile_definitions(stand_in_${age} PRIVATE STAND_IN_${definition})
  set_target_properties(stand_in_${age} PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stand_in/${age})
endforeach()

# hoist_stand_in_test(name program age mood): the program with that stand-in as the driver.
function(hoist_stand_in_test name program age mood)
  add_test(NAME conformance.${name} COMMAND ${program} ${ARGN})
  set_tests_properties(conformance.${name} PROPERTIES LABELS conformance ENVIRONMENT
    "HOIST_TRUST=1;TSAN_OPTIONS=die_after_fork=0;HOIST_TEST_DEVICES=cuda:0;STAND_IN_CUDA=${mood};LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/stand_in/${age};CUDA_VISIBLE_DEVICES=")
  add_dependencies(${program} stand_in_${age})
endfunction()

if(HOIST_BUILD_TOOLS)
  hoist_stand_in_test(stand_in_device hoist_command new "" device-check cuda:0)
  hoist_stand_in_test(stand_in_device_old hoist_command old "no-batches,no-remap,lacks=cuStreamBatchMemOp" device-check
                      cuda:0)
endif()
set(surroundings conformance.cuda_surroundings_test)
hoist_stand_in_test(stand_in_ancient ${surroundings} ancient ancient --gtest_filter=*.AncientDriver)
hoist_stand_in_test(stand_in_no_devices ${surroundings} new no-devices --gtest_filter=*.NoVisibleDevices)
hoist_stand_in_test(stand_in_lacks ${surroundings} new lacks=cuLaunchHostFunc --gtest_filter=*.AMissingSymbolIsNamed)
hoist_stand_in_test(stand_in_options ${surroundings} new no-batches --gtest_filter=*.OptionsAreUnknown)
hoist_stand_in_test(stand_in_facts ${surroundings} new no-batches
                    --gtest_filter=*.ADeviceThatIsNotThere:*.DevicesSay*)
hoist_stand_in_test(stand_in_context ${surroundings} new no-batches --gtest_filter=*.TheCallersContextStays)
hoist_stand_in_test(stand_in_pinning ${surroundings} new refuses-pinning --gtest_filter=*.RefusedPinning*)
hoist_stand_in_test(stand_in_allocated ${surroundings} new allocated --gtest_filter=*.MemoryThatTheDriver*)
hoist_stand_in_test(stand_in_capturing ${surroundings} new capturing --gtest_filter=*.AStreamThatIsCaptured*)
hoist_stand_in_test(stand_in_sticky ${surroundings} new sticky --gtest_filter=*.ABrokenContext*)
hoist_stand_in_test(stand_in_no_remap ${surroundings} new no-remap --gtest_filter=*.NoRemapping)
hoist_stand_in_test(stand_in_lacks_map ${surroundings} new lacks=cuMemMap --gtest_filter=*.NoRemapping)
hoist_stand_in_test(stand_in_no_words ${surroundings} new lacks=cuStreamBatchMemOp --gtest_filter=*.NoWords)
hoist_stand_in_test(stand_in_no_graphs ${surroundings} new lacks=cuStreamBeginCapture --gtest_filter=*.NoGraphs)
hoist_stand_in_test(stand_in_no_second_context ${surroundings} new refuses=cuCtxCreate:2
                    --gtest_filter=*.NoSecondContext)
hoist_stand_in_test(stand_in_refused_map ${surroundings} new refuses=cuMemMap:2 --gtest_filter=*.ARefusedMap*)
hoist_stand_in_test(stand_in_refused_access ${surroundings} new refuses=cuMemSetAccess:1 --gtest_filter=*.ARefusedMap*)
hoist_stand_in_test(stand_in_full ${surroundings} new full --gtest_filter=*.MemoryOfOthers)

# The manager, placement in slots and captured steps over the cuda device.
set(old "no-batches,no-remap,lacks=cuStreamBatchMemOp,lacks=cuStreamBeginCapture")
hoist_stand_in_test(stand_in_manager conformance.manager_on_device_test new "slow")
hoist_stand_in_test(stand_in_manager_old conformance.manager_on_device_test old "${old}")
set(other_devices *ADeviceWithoutWords*:*InAnArena*)
hoist_stand_in_test(stand_in_graphs graphs.replay_test new "slow" --gtest_filter=-${other_devices})
hoist_stand_in_test(stand_in_lost graphs.failing_test new "" --gtest_filter=LostDevice.*)
set_tests_properties(conformance.stand_in_lost PROPERTIES TIMEOUT 120)
hoist_stand_in_test(stand_in_offload unit.offload.manager_test new "" --gtest_filter=-*nline*:*uarded*:*irtual*)
hoist_stand_in_test(stand_in_one_budget capi.one_budget_test new "")
hoist_stand_in_test(stand_in_budget_bytes capi.budget_bytes_test new "slow")
hoist_stand_in_test(stand_in_budget_reserve capi.budget_reserve_test new "slow")
foreach(case IN ITEMS case01_slot_rings case02_loose_parameters case13_tied_tensors case19_orders case22_read_back)
  hoist_stand_in_test(stand_in_${case} cases.${case}_test new "slow" --gtest_filter=-*nline*:*uarded*:*irtual*)
endforeach()
