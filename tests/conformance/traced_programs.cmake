# Programs of the suite under a trace, which is checked against its format afterwards.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

foreach(program conformance_stream conformance_sharing conformance_copy)
  sampan_test_variant(${program}_traced ${Python3_EXECUTABLE} LABEL conformance
    ARGUMENTS -B ${PROJECT_SOURCE_DIR}/tests/tool/traced.py $<TARGET_FILE:${program}> --gtest_brief=1)
endforeach()
