# SPDX-License-Identifier: Apache-2.0
# What a user gets: libhoist with its headers, the C++ header, hoist.pc, the CMake package, Debian packages.
include(CMakePackageConfigHelpers)
add_library(hoist::hoist ALIAS hoist)

add_library(hoist_cpp INTERFACE)
add_library(hoist::cpp ALIAS hoist_cpp)
set_target_properties(hoist_cpp PROPERTIES EXPORT_NAME cpp)
target_link_libraries(hoist_cpp INTERFACE hoist)
target_compile_features(hoist_cpp INTERFACE cxx_std_20)
target_include_directories(hoist_cpp INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bindings/cpp/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# What a device plugin needs: the headers, and no library.
add_library(hoist_plugin_headers INTERFACE)
add_library(hoist::headers ALIAS hoist_plugin_headers)
set_target_properties(hoist_plugin_headers PROPERTIES EXPORT_NAME headers)
target_include_directories(hoist_plugin_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# The headers as an installed package lays them out, so that a build tree can be used like one.
file(GLOB HOIST_PUBLIC_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/hoist/*.h
     ${PROJECT_SOURCE_DIR}/bindings/cpp/include/hoist/*.hpp)
set(copies)
foreach(header IN LISTS HOIST_PUBLIC_HEADERS)
  get_filename_component(name ${header} NAME)
  set(copy ${CMAKE_BINARY_DIR}/include/hoist/${name})
  add_custom_command(OUTPUT ${copy} COMMAND ${CMAKE_COMMAND} -E copy ${header} ${copy} DEPENDS ${header} VERBATIM)
  list(APPEND copies ${copy})
endforeach()
add_custom_target(hoist_include ALL DEPENDS ${copies})

# Installed programs find the library beside them, wherever the prefix is moved.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

install(TARGETS hoist EXPORT hoistTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS hoist_cpp hoist_plugin_headers EXPORT hoistTargets)
install(FILES ${HOIST_PUBLIC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hoist COMPONENT dev)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/hoistConfig.cmake.in ${CMAKE_BINARY_DIR}/hoistConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hoist)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hoistConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hoistConfig.cmake ${CMAKE_BINARY_DIR}/hoistConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hoist COMPONENT dev)
install(EXPORT hoistTargets NAMESPACE hoist:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hoist COMPONENT dev)

file(RELATIVE_PATH HOIST_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/hoist.pc.in ${CMAKE_BINARY_DIR}/hoist.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/hoist.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

include(hoist_package)
