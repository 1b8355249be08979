# Everything around the copies: processes, devices, streams, events, callbacks, memory.
sampan_test(conformance_process LABEL conformance SOURCES
  init_test.cc
  init_callback_test.cc
  version_test.cc
  log_test.cc
  settings_test.cc
  visible_devices_test.cc
  fault_message_test.cc
  process_exit_test.cc)

sampan_test(conformance_device LABEL conformance SOURCES
  error_test.cc
  device_test.cc
  device_info_test.cc
  context_test.cc
  thread_context_test.cc
  data_types_test.cc)

sampan_test(conformance_compute LABEL conformance SOURCES
  compute_settings_test.cc
  compute_queries_test.cc
  capture_test.cc)

sampan_test(conformance_capacity LABEL conformance SOURCES device_capacity_test.cc)

sampan_test(conformance_memory LABEL conformance SOURCES
  memory_test.cc
  memory_free_test.cc
  pointer_attributes_test.cc
  host_register_test.cc)

# These depend on when work runs, so they run under every schedule.
sampan_test(conformance_stream LABEL conformance SOURCES
  stream_test.cc
  stream_sync_test.cc
  stream_abort_test.cc
  stream_failure_test.cc
  event_test.cc
  event_order_test.cc
  event_time_test.cc
  callback_test.cc
  host_function_test.cc
  exception_callback_test.cc)

sampan_test(conformance_sharing LABEL conformance SOURCES
  ipc_event_test.cc
  memory_pool_test.cc
  notify_test.cc
  state_callback_test.cc
  value_test.cc
  virtual_memory_test.cc)

sampan_test(conformance_fabric LABEL conformance SOURCES fabric_handle_test.cc
  ENVIRONMENT SAMPAN_PROFILE=ascend910c)

foreach(program stream memory device sharing)
  sampan_test_schedules(conformance_${program} LABEL conformance SCHEDULES early late seed:3)
endforeach()
