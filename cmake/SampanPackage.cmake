# Packages: `cpack -G DEB` in the build folder makes a .deb that installs below /opt/sampan.
set(CPACK_PACKAGE_NAME sampan)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Sampan authors <sampan@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "AscendCL's copy runtime without Ascend hardware")
set(CPACK_PACKAGE_DESCRIPTION
    "An independent implementation of AscendCL's devices, streams, events, memory and copies on an emulated device, \
with the command sampan, which runs unmodified programs on it.")
set(CPACK_PACKAGING_INSTALL_PREFIX /opt/sampan)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Depends: dpkg-shlibdeps reads the oldest versions that will do from the programs. It comes with dpkg-dev, which
# building does not need; without it, the versions of this machine are asked for.
find_program(SAMPAN_SHLIBDEPS dpkg-shlibdeps)
find_program(SAMPAN_FILE file)
if(SAMPAN_SHLIBDEPS AND SAMPAN_FILE)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib64)
else()
  set(depends)
  foreach(package libc6 libgcc-s1 libstdc++6 libdw1 zlib1g)
    execute_process(COMMAND dpkg-query --show "--showformat=\${source:Upstream-Version}" ${package}
                    OUTPUT_VARIABLE version RESULT_VARIABLE status ERROR_QUIET)
    if(status EQUAL 0)
      list(APPEND depends "${package} (>= ${version})")
    else()
      list(APPEND depends ${package})
    endif()
  endforeach()
  list(JOIN depends ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
endif()
# Loaded at run time, for memory of other hosts.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libfabric1)
# For the module acl.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, python3-numpy")
# Names on the usual paths that lead into /opt/sampan.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/SampanPackageLinks.cmake)
include(CPack)
