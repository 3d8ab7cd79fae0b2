# SPDX-License-Identifier: Apache-2.0
# Language levels, warnings and sanitizers, in one place.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Times decide plans, so they must be the same everywhere: no contraction into fused operations.
add_compile_options(-ffp-contract=off)
add_compile_options(-Wall -Wextra -Wshadow -Wpedantic)

if(HOIST_SANITIZE)
  # no-builtin: otherwise constant-size memset and memcpy are invisible to ThreadSanitizer.
  add_compile_options(-fsanitize=${HOIST_SANITIZE} -fno-omit-frame-pointer -fno-builtin -g)
  add_link_options(-fsanitize=${HOIST_SANITIZE})
endif()
