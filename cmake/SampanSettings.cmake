# Language level, warnings and instrumentation that every target of the project shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(Threads REQUIRED)

add_library(sampan_settings INTERFACE)
target_compile_options(sampan_settings INTERFACE
  -Wall -Wextra $<$<BOOL:${SAMPAN_WERROR}>:-Werror> -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Wunused -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -Wconversion -Wno-sign-conversion -Wdouble-promotion -Wformat=2)
# GCC 12 finds bounds overstepped inside std::string where there are none, once it comes from a precompiled header.
target_compile_options(sampan_settings INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
# Two words that were stored one by one and are loaded as one vector wait for both stores: a copy call would take half as
# long again. Loops are still vectorised.
target_compile_options(sampan_settings INTERFACE -fno-tree-slp-vectorize)
target_link_libraries(sampan_settings INTERFACE Threads::Threads)

if(SAMPAN_ASSERTIONS)
  target_compile_definitions(sampan_settings INTERFACE SAMPAN_ASSERTIONS)
endif()
if(SAMPAN_SANITIZE)
  # Any int may arrive in an enum parameter of a C function, and it is the library's job to refuse it: so no enum check.
  add_compile_options(-fsanitize=${SAMPAN_SANITIZE} -fno-sanitize=enum -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # GCC takes the checks that it puts in for uses of what is not set yet.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${SAMPAN_SANITIZE})
endif()
if(SAMPAN_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
