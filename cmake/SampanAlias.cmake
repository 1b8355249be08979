# The second name of the library: libascendcl.so, an ELF filter in front of libacl_rt.so.
#
# Programs link with one name or the other, and one process may load both, so both must lead to one runtime.
# A filter library has the symbols that the linker wants, and a DT_FILTER entry that makes the loader search
# libacl_rt.so first: calls, addresses, dlsym and RTLD_NEXT all end there, while programs still record the
# name that they were linked with. Unlike a symbolic link it survives being copied by tools that follow links.
# A loader that ignores DT_FILTER (glibc does not) would reach the bodies in the filter, which trap.
include_guard(GLOBAL)
include(SampanExports)

# sampan_alias(ascendcl acl_rt): shared library `ascendcl` that stands for the shared library target `acl_rt`.
function(sampan_alias name real)
  add_library(${name} SHARED ${SAMPAN_EXPORTS_ALIAS})
  add_dependencies(${name} ${real})
  sampan_export_declared(${name})
  # The bodies never run: there is nothing to instrument, and no instrumentation runtime is to be needed.
  target_compile_options(${name} PRIVATE -fno-sanitize=all)
  target_link_options(${name} PRIVATE LINKER:--filter=$<TARGET_FILE_NAME:${real}> -fno-sanitize=all)
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  set_target_properties(${name} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib64)
endfunction()
