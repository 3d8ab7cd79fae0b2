# SPDX-License-Identifier: Apache-2.0
# Devices that are broken on purpose: each fails the check that is about it, and no other.
set(sample ${PROJECT_SOURCE_DIR}/examples/c/06_my_device)
add_library(broken_device MODULE ${CMAKE_CURRENT_LIST_DIR}/broken.c ${sample}/error.c ${sample}/event.c
  ${sample}/memory.c ${sample}/my_device.c ${sample}/stream.c)
set_source_files_properties(${sample}/my_device.c PROPERTIES COMPILE_DEFINITIONS hoist_device_plugin_init=my_plugin_init)
set_target_properties(broken_device PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
target_compile_definitions(broken_device PRIVATE _POSIX_C_SOURCE=200809L)
target_include_directories(broken_device PRIVATE ${sample})
target_link_libraries(broken_device PRIVATE hoist::headers Threads::Threads)

foreach(pair IN ITEMS
    table_is_short=table.accepted
    table_is_of_the_future=table.accepted
    slot_is_missing=table.accepted
    query_name_lies=identity.query
    query_claims_batches=identity.claims
    describe_starts_a_thread=identity.describe
    clock_runs_fast=identity.clock
    info_lies=memory.info
    memory_stays_taken=memory.given_back
    memory_is_half=memory.sizes
    memory_is_askew=memory.alignment
    memory_is_never_refused=memory.exhaustion
    memory_takes_one_thread=threads.streams
    pins_twice=pinned.twice
    copy_crashes=copies.every_way
    copy_is_too_long=copies.exact
    copy_ignores_its_stream=copies.in_order
    copy_waits=copies.asynchronous
    copy_leaks=leaks.steady
    copy_fails_without_words=errors.words
    a_refusal_stays=errors.stay
    fill_is_too_long=fills.exact
    fill_ignores_its_stream=fills.in_order
    host_functions_overtake=host_functions.in_order
    destroy_does_not_wait=streams.destroy_waits
    destroy_leaks=leaks.lives
    wait_tells_no_failure=errors.failed_work
    poll_is_early=events.poll
    poll_remembers=events.moved
    wait_is_early=events.wait
    unrecorded_is_fine=events.unrecorded
    elapsed_is_in_ms=events.timing
    streams_do_not_wait=events.across_streams
    streams_wait_for_the_last=events.recording_of_the_call
    set_takes_all=errors.settings
    open_hangs_in_a_child=process.fork)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 broken)
  list(GET pair 1 check)
  add_test(NAME conformance.broken.${broken}
           COMMAND ${CMAKE_COMMAND} -DHOIST=$<TARGET_FILE:hoist_command> -DDEVICE=$<TARGET_FILE:broken_device>
                   -DCHECK=${check} -P ${CMAKE_CURRENT_LIST_DIR}/fails_one.cmake)
  set_tests_properties(conformance.broken.${broken} PROPERTIES LABELS conformance ENVIRONMENT "BROKEN_DEVICE=${broken}")
endforeach()
