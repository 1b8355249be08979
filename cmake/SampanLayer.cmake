# sampan_layer(NAME folder SOURCES ... USES ...): a folder under src/ is a layer is a static library.
# What most sources include, compiled once. A library like the layers, because they share its flags. The presets for clang
# do without, so that a file that leaves out what it needs does not go unnoticed.
file(WRITE ${PROJECT_BINARY_DIR}/layer_headers.cc "")
add_library(sampan_layer_headers STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/layer_headers.cc)
target_link_libraries(sampan_layer_headers PRIVATE sampan_settings)
target_precompile_headers(sampan_layer_headers PRIVATE
  <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <functional> <map> <memory> <mutex>
  <optional> <span> <string> <string_view> <thread> <utility> <variant> <vector>)

function(sampan_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES" ${ARGN})
  add_library(sampan_${name} STATIC ${LAYER_SOURCES})
  target_include_directories(sampan_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(sampan_${name} PUBLIC sampan_settings ${LAYER_USES})
  target_precompile_headers(sampan_${name} REUSE_FROM sampan_layer_headers)
endfunction()
