# The copy suite: one program under every schedule, under other profiles, with those profiles' own programs.
sampan_test(conformance_copy LABEL conformance LONG SOURCES
  copy_memcpy_rules_test.cc
  copy_async_rules_test.cc
  copy_async_kinds_test.cc
  copy_linear_data_test.cc
  copy_ordering_test.cc
  copy_rows_rules_test.cc
  copy_rows_data_test.cc
  copy_batch_rules_test.cc
  copy_batch_entries_test.cc
  copy_batch_data_test.cc
  copy_descriptor_test.cc
  copy_offset_test.cc
  copy_memset_test.cc
  copy_bounds_test.cc
  copy_errors_test.cc
  copy_messages_test.cc
  copy_peer_test.cc)

# Chosen schedules run one task at a time, which is no news to the thread sanitizer: the program is the slowest of all under it.
if(NOT SAMPAN_SANITIZE MATCHES "thread")
  sampan_test_schedules(conformance_copy LABEL conformance SCHEDULES early late seed:7)
endif()
# Profiles change rules. Under the sanitizers, the programs below check the rules that differ.
if(NOT SAMPAN_SANITIZE)
  sampan_test_variant(conformance_copy_cann9 conformance_copy LABEL conformance
    ENVIRONMENT SAMPAN_PROFILE=ascend910b,cann9)
  sampan_test_variant(conformance_copy_rc conformance_copy LABEL conformance ENVIRONMENT SAMPAN_PROFILE=ascend310-rc)
endif()
sampan_test(conformance_copy_cann9_rules LABEL conformance SOURCES copy_cann9_test.cc
  ENVIRONMENT SAMPAN_PROFILE=ascend910b,cann9)
sampan_test(conformance_copy_rc_rules LABEL conformance SOURCES copy_rc_test.cc
  ENVIRONMENT SAMPAN_PROFILE=ascend310-rc)
# How soon an emulated device copies; other backends and chosen schedules have their own.
sampan_test(conformance_copy_at_once LABEL conformance SOURCES copy_at_once_test.cc)
