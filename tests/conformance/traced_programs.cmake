# Programs of the suite under a trace, which is held against its format afterwards.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# sampan_traced_test(program pattern): the tests of a program that fit the pattern.
function(sampan_traced_test program pattern)
  sampan_test_variant(${program}_traced ${Python3_EXECUTABLE} LABEL conformance
    ARGUMENTS -B ${PROJECT_SOURCE_DIR}/tests/tool/traced.py $<TARGET_FILE:${program}> --gtest_brief=1 --gtest_filter=${pattern})
endfunction()

sampan_traced_test(conformance_stream "*")
sampan_traced_test(conformance_sharing "*")
sampan_traced_test(conformance_copy "*Order*:*Descriptor*")
