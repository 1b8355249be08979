# What the public library exports and refuses, generated from the headers in include/acl and the list of functions.
include_guard(GLOBAL)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(SAMPAN_EXPORTS_SCRIPT ${PROJECT_BINARY_DIR}/exports/acl.map CACHE INTERNAL "Linker version script")
set(SAMPAN_EXPORTS_LIST ${PROJECT_BINARY_DIR}/exports/acl_symbols.txt CACHE INTERNAL "Expected symbols")
set(SAMPAN_EXPORTS_ALIAS ${PROJECT_BINARY_DIR}/exports/acl_alias.c CACHE INTERNAL "Source of the alias")

function(sampan_add_exports)
  set(scripts ${PROJECT_SOURCE_DIR}/scripts)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/acl/*.h)
  set(outputs ${SAMPAN_EXPORTS_SCRIPT} ${SAMPAN_EXPORTS_LIST} ${SAMPAN_EXPORTS_ALIAS})
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${Python3_EXECUTABLE} -B ${scripts}/generate_exports.py
            --headers ${PROJECT_SOURCE_DIR}/include/acl
            --script ${SAMPAN_EXPORTS_SCRIPT} --list ${SAMPAN_EXPORTS_LIST} --alias ${SAMPAN_EXPORTS_ALIAS}
    DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/docs/compatibility/functions.txt ${scripts}/generate_exports.py
            ${PROJECT_SOURCE_DIR}/src/base/platform_bridge.h
            ${scripts}/api_functions.py ${scripts}/api_list.py ${scripts}/generated_file.py
    COMMENT "Generating the export list" VERBATIM)
  add_custom_target(sampan_exports DEPENDS ${outputs})
endfunction()
sampan_add_exports()

# sampan_export_declared(target): the shared library exports the declared functions and nothing else.
function(sampan_export_declared target)
  add_dependencies(${target} sampan_exports)
  target_link_options(${target} PRIVATE LINKER:--version-script=${SAMPAN_EXPORTS_SCRIPT})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${SAMPAN_EXPORTS_SCRIPT})
endfunction()

# sampan_refuse_undefined(target SOURCES ...): adds a source with refusals for the public functions that
# none of the sources defines. It includes acl/not_supported.h, to be found below src/.
function(sampan_refuse_undefined target)
  cmake_parse_arguments(REFUSE "" "" "SOURCES" ${ARGN})
  set(sources)
  foreach(source IN LISTS REFUSE_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND sources ${source})
  endforeach()
  set(scripts ${PROJECT_SOURCE_DIR}/scripts)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/acl/*.h)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/unsupported.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} -B ${scripts}/generate_unsupported.py
            --headers ${PROJECT_SOURCE_DIR}/include/acl --output ${output} ${sources}
    DEPENDS ${headers} ${sources} ${PROJECT_SOURCE_DIR}/docs/compatibility/functions.txt
            ${scripts}/generate_unsupported.py ${scripts}/api_definitions.py ${scripts}/api_functions.py
            ${scripts}/api_list.py ${scripts}/generated_file.py
    COMMENT "Generating refusals for the functions that are not implemented" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
