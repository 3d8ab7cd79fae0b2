# SPDX-License-Identifier: Apache-2.0
# Every device that there is does what hoist/device_ops.h asks of it: `hoist device-check` is the one suite.

# hoist_device_check(name device): 2 is the status where the device is not there.
function(hoist_device_check name device)
  add_test(NAME conformance.device_check.${name} COMMAND hoist_command device-check ${device})
  set_tests_properties(conformance.device_check.${name} PROPERTIES LABELS conformance
    ENVIRONMENT "HOIST_TRUST=1;TSAN_OPTIONS=die_after_fork=0" ${ARGN})
endfunction()

foreach(mode IN ITEMS inline threaded guarded virtual)
  hoist_device_check(host_${mode} host:0?mode=${mode})
endforeach()
hoist_device_check(host_no_bytes "host:0?mode=virtual&bytes=none&h2d_gbps=1&latency_us=5")
hoist_device_check(cuda cuda:0 SKIP_RETURN_CODE 2)
if(TARGET my_device)
  hoist_device_check(my_device $<TARGET_FILE:my_device>)
  hoist_device_check(my_other_device $<TARGET_FILE:my_device>:1?memory=256MiB&copy_delay_us=100)
endif()
