# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM; it must end with 0 and, where the file EXPECTED is there, print exactly that.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
message("${printed}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()
if(EXISTS ${EXPECTED})
  file(READ ${EXPECTED} expected)
  if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "${PROGRAM} should print what ${EXPECTED} says:\n${expected}")
  endif()
endif()
