# SPDX-License-Identifier: Apache-2.0
# The library as it will be once a slot has been appended: the headers and the list of slots are changed here as whoever
# appends one would change them, and what sees the table is compiled anew. Old plugins must run on it as they are.
set(next ${CMAKE_CURRENT_BINARY_DIR}/next)
file(READ ${PROJECT_SOURCE_DIR}/include/hoist/device_ops.h header)
string(REGEX MATCH "#define HOIST_DEVICE_ABI_VERSION ([0-9]+)" found "${header}")
math(EXPR level "${CMAKE_MATCH_1} + 1")
string(REPLACE "${found}" "#define HOIST_DEVICE_ABI_VERSION ${level}" header "${header}")
string(REPLACE "} hoist_device_ops_t;"
  "  hoist_status_t (*appended)(void* self, uint64_t bytes, void** out_thing);\n} hoist_device_ops_t;" header "${header}")
file(READ ${PROJECT_SOURCE_DIR}/src/device/slots.hpp slots)
string(REGEX REPLACE "\\)[ \n]*$" ") SLOT(appended, ${level}, 0)\n" slots "${slots}")
if(NOT found OR NOT header MATCHES "appended" OR NOT slots MATCHES "appended")
  message(FATAL_ERROR "compat/next.cmake does not know any more how a slot is appended")
endif()
file(CONFIGURE OUTPUT ${next}/hoist/device_ops.h CONTENT "${header}" @ONLY)
file(CONFIGURE OUTPUT ${next}/device/slots.hpp CONTENT "${slots}" @ONLY)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/base/*.cpp ${PROJECT_SOURCE_DIR}/src/device/*.cpp
     ${PROJECT_SOURCE_DIR}/src/memory/*.cpp ${PROJECT_SOURCE_DIR}/src/backends/*/*.cpp ${PROJECT_SOURCE_DIR}/tools/device_check/*.cpp)
foreach(name IN ITEMS device plugin status stream version)
  list(APPEND sources ${PROJECT_SOURCE_DIR}/capi/${name}.cpp)
endforeach()
foreach(name IN ITEMS arguments nearest output)
  list(APPEND sources ${PROJECT_SOURCE_DIR}/tools/${name}.cpp)
endforeach()
list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/next.cpp)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
add_executable(compat_next ${sources})
target_compile_options(compat_next PRIVATE -O1 -g0)
target_include_directories(compat_next PRIVATE ${next} ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/bindings/cpp/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/capi ${PROJECT_SOURCE_DIR}/tools)
target_link_libraries(compat_next PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS})

add_test(NAME compat.next.host COMMAND compat_next host:0)
set_tests_properties(compat.next.host PROPERTIES LABELS compat)
