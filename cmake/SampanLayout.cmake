# The rest of CANN's tree: folders and libraries that build files name, so that they work unchanged.
#
#   lib64/lib<name>.so               libraries that programs only name on link lines: real, with their soname, and empty
#   lib64/stub, devlib               the libraries once more, where programs look for stubs
#   <arch>-linux, runtime, compiler, acllib, fwkacllib, toolkit, driver
#                                    links to include and lib64
#   opp, tools                       folders that scripts look for
include_guard(GLOBAL)

# Link lines name these; their functions have no place in a copy runtime. libhccl and libhcomm are not among them.
set(SAMPAN_THIN_LIBRARIES
    acl_cblas acl_dvpp acl_dvpp_mpi acl_op_compiler acl_prof acl_retr acl_rt_impl acl_tdt_channel acl_tdt_queue
    ascend_dump ascend_hal ascendalog c_sec cann_hixl error_manager exe_graph fmk_onnx_parser ge_compiler ge_runner graph
    graph_base llm_datadist metadef mmpa msprofiler nnopbase opapi opsproto platform profapi register runtime tiling_api
    unified_dlog)

# Of libacl_op_compiler, programs link these names without a need for what they do: they answer 207000 or NULL.
set(SAMPAN_COMPILER_CODES
    aclGenGraphAndDumpForOp aclSetCompileopt aclSetTensorConst aclopCompile aclopCompileAndExecute
    aclopCompileAndExecuteV2 aclopExecuteV2 aclopSetAttrListListInt)
set(SAMPAN_COMPILER_POINTERS aclCreateGraphDumpOpt aclDestroyGraphDumpOpt)

# sampan_thin_libraries(): target sampan_thin builds the libraries into lib64.
function(sampan_thin_libraries)
  set(folder ${PROJECT_BINARY_DIR}/thin)
  set(compiler "/* Names of libacl_op_compiler that programs link: no operator can be compiled. */\n")
  foreach(name IN LISTS SAMPAN_COMPILER_CODES)
    string(APPEND compiler "int ${name}(void);\nint ${name}(void) { return 207000; }\n")
  endforeach()
  foreach(name IN LISTS SAMPAN_COMPILER_POINTERS)
    string(APPEND compiler "void* ${name}(void);\nvoid* ${name}(void) { return (void*)0; }\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/acl_op_compiler.c CONTENT "${compiler}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/empty.c @ONLY
       CONTENT "/* A library that is only named. */\ntypedef int sampan_empty_translation_unit;\n")
  add_library(sampan_thin_empty OBJECT ${folder}/empty.c)
  set_target_properties(sampan_thin_empty PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(sampan_thin_empty PRIVATE -fno-sanitize=all)
  add_custom_target(sampan_thin)
  foreach(library IN LISTS SAMPAN_THIN_LIBRARIES)
    set(target sampan_thin_${library})
    if(library STREQUAL acl_op_compiler)
      add_library(${target} SHARED ${folder}/acl_op_compiler.c)
      target_compile_options(${target} PRIVATE -fvisibility=default)
    else()
      add_library(${target} SHARED $<TARGET_OBJECTS:sampan_thin_empty>)
    endif()
    # Nothing in them runs: no C library and no instrumentation is needed.
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
    target_link_options(${target} PRIVATE -nostdlib -fno-sanitize=all LINKER:-s LINKER:-z,noseparate-code)
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${library} LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)
    add_dependencies(sampan_thin ${target})
    install(TARGETS ${target} LIBRARY DESTINATION lib64)
  endforeach()
endfunction()

# sampan_folder_links(STAGING): the links and folders, relative, so that the tree can be moved.
function(sampan_folder_links staging)
  set(system ${CMAKE_SYSTEM_PROCESSOR}-linux)
  foreach(folder ${system} runtime compiler acllib fwkacllib toolkit)
    file(MAKE_DIRECTORY ${staging}/${folder})
    foreach(part include lib64)
      file(CREATE_LINK ../${part} ${staging}/${folder}/${part} SYMBOLIC)
    endforeach()
  endforeach()
  file(CREATE_LINK ../devlib ${staging}/${system}/devlib SYMBOLIC)
  file(MAKE_DIRECTORY ${staging}/driver/lib64)
  foreach(part driver common)
    file(CREATE_LINK ../../lib64 ${staging}/driver/lib64/${part} SYMBOLIC)
  endforeach()
  file(MAKE_DIRECTORY ${staging}/opp/built-in/op_proto ${staging}/opp/vendors ${staging}/tools)

  set(libraries ${SAMPAN_LIBRARIES} ${SAMPAN_THIN_LIBRARIES})
  # Folder for stubs -> the way from it to lib64. No link leads to a folder above itself: tools that follow links end.
  foreach(place lib64/stub:.. devlib:../lib64 devlib/linux/${CMAKE_SYSTEM_PROCESSOR}:../../../lib64)
    string(REPLACE ":" ";" place ${place})
    list(GET place 0 folder)
    list(GET place 1 way)
    file(MAKE_DIRECTORY ${staging}/${folder})
    foreach(library IN LISTS libraries)
      file(CREATE_LINK ${way}/lib${library}.so ${staging}/${folder}/lib${library}.so SYMBOLIC)
    endforeach()
  endforeach()
endfunction()

sampan_thin_libraries()
file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/install_files/tree)
sampan_folder_links(${PROJECT_BINARY_DIR}/install_files/tree)
install(DIRECTORY ${PROJECT_BINARY_DIR}/install_files/tree/ DESTINATION . USE_SOURCE_PERMISSIONS)
