# sampan_test(name LABEL label SOURCES ... [ENVIRONMENT ...] [INTERNAL] [TIMEOUT seconds] [LONG]): a GoogleTest program.
# It links the shared library as a program does; with INTERNAL, the layers themselves. Tests that are LONG start first,
# so that none of them is left alone at the end.
# sampan_test_variant(name program LABEL label ENVIRONMENT ... [ARGUMENTS ...] [TIMEOUT seconds] [LONG]): the same program
# under other settings. tests/support/applicability.cc says which of its tests run under which settings.
# sampan_test_schedules(program LABEL label SCHEDULES ... [and what a variant takes]): a variant for each schedule.
find_package(GTest REQUIRED)

# The library is what is optimised, and watched for undefined behaviour; the tests themselves should be built soon.
set(SAMPAN_TEST_FLAGS -O0 -g1)
if(SAMPAN_SANITIZE MATCHES "undefined")
  list(APPEND SAMPAN_TEST_FLAGS -fno-sanitize=undefined)
endif()

# Races at the end are looked for in each of many processes, but not for a whole second, which is the default.
set(SAMPAN_TSAN_OPTIONS TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan_suppressions.txt:atexit_sleep_ms=50)
# The leak checker guesses where dynamic thread-local storage lies. By chance it guesses wrong, and then it crashes.
set(SAMPAN_ASAN_OPTIONS ASAN_OPTIONS=intercept_tls_get_addr=0)

# CTest starts the costly first.
set(SAMPAN_LONG_TEST 2)

# What every test includes, compiled once. A program like the tests, because they share its flags.
file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cc "int main() {}\n")
add_executable(sampan_test_headers EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cc)
target_include_directories(sampan_test_headers PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(sampan_test_headers PRIVATE ${SAMPAN_TEST_FLAGS})
target_link_libraries(sampan_test_headers PRIVATE sampan_settings GTest::gtest)
target_precompile_headers(sampan_test_headers PRIVATE <gtest/gtest.h> <acl/acl.h>)

# What starts the tests that apply.
add_library(sampan_test_main STATIC EXCLUDE_FROM_ALL
  ${PROJECT_SOURCE_DIR}/tests/support/applicability.cc ${PROJECT_SOURCE_DIR}/tests/support/test_main.cc)
target_include_directories(sampan_test_main PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(sampan_test_main PRIVATE ${SAMPAN_TEST_FLAGS})
target_link_libraries(sampan_test_main PRIVATE sampan_settings PUBLIC GTest::gtest)
# A program with a main function of its own takes the rest.
set_target_properties(sampan_test_main PROPERTIES UNITY_BUILD OFF)

function(sampan_test name)
  cmake_parse_arguments(TEST "INTERNAL;LONG" "LABEL;TIMEOUT" "SOURCES;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE sampan_settings sampan_test_main)
  target_precompile_headers(${name} REUSE_FROM sampan_test_headers)
  if(TEST_INTERNAL)
    target_link_libraries(${name} PRIVATE sampan_acl)
  else()
    target_link_libraries(${name} PRIVATE acl_rt)
  endif()
  set(long)
  if(TEST_LONG)
    set(long LONG)
  endif()
  sampan_test_variant(${name} ${name} LABEL "${TEST_LABEL}" ENVIRONMENT "${TEST_ENVIRONMENT}"
    TIMEOUT "${TEST_TIMEOUT}" ${long})
endfunction()

function(sampan_test_variant name program)
  cmake_parse_arguments(TEST "LONG" "LABEL;TIMEOUT" "ENVIRONMENT;ARGUMENTS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${program} ${TEST_ARGUMENTS})
  if(SAMPAN_SANITIZE MATCHES "thread")
    list(APPEND TEST_ENVIRONMENT ${SAMPAN_TSAN_OPTIONS})
  elseif(SAMPAN_SANITIZE MATCHES "address")
    list(APPEND TEST_ENVIRONMENT ${SAMPAN_ASAN_OPTIONS})
  endif()
  # Expected refusals are part of the tests: their log lines would only hide real ones.
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABEL}" TIMEOUT ${TEST_TIMEOUT}
    ENVIRONMENT "ASCEND_GLOBAL_LOG_LEVEL=4;${TEST_ENVIRONMENT}")
  if(TEST_LONG)
    set_tests_properties(${name} PROPERTIES COST ${SAMPAN_LONG_TEST})
  endif()
endfunction()

function(sampan_test_schedules program)
  cmake_parse_arguments(TEST "" "" "SCHEDULES;ENVIRONMENT" ${ARGN})
  if(SAMPAN_SANITIZE)  # the same code as under the others, with nothing in flight that could be in its way
    list(REMOVE_ITEM TEST_SCHEDULES early)
  endif()
  if(SAMPAN_SANITIZE MATCHES "thread")  # one task at a time: the others are enough
    list(REMOVE_ITEM TEST_SCHEDULES late)
  endif()
  foreach(schedule ${TEST_SCHEDULES})
    string(REPLACE ":" "_" name ${program}_${schedule})
    sampan_test_variant(${name} ${program} ENVIRONMENT SAMPAN_SCHEDULE=${schedule} ${TEST_ENVIRONMENT}
      ${TEST_UNPARSED_ARGUMENTS})
  endforeach()
endfunction()
