# sampan_layer(NAME folder SOURCES ... USES ...): a folder under src/ is a layer is a static library.
function(sampan_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES" ${ARGN})
  add_library(sampan_${name} STATIC ${LAYER_SOURCES})
  target_include_directories(sampan_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(sampan_${name} PUBLIC sampan_settings ${LAYER_USES})
endfunction()
