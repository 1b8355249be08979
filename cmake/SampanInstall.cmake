# Install layout: CANN's, so that ASCEND_HOME_PATH can point at the prefix, and relocatable as a whole.
#
#   include/acl, include/hccl        public headers
#   lib64                            libacl_rt.so, libascendcl.so, libhccl.so, libhcomm.so, libhccl_plf.so
#   lib64/cmake/sampan, cmake        find_package(sampan): sampan::acl_rt, sampan::ascendcl, sampan::hccl, sampan::hcomm, sampan::hccl_plf
#   lib64/pkgconfig                  sampan.pc, ascendcl.pc
#   python/site-packages             acl.so and acl-stubs: `import acl`, where Python's headers were
#   set_env.sh, bin/setenv.bash      environment of a shell
#   bin/hccl_bench                   collectives measured (tools/hccl_bench)
#   bin/sampan                       the command, with share/man and completion for bash, zsh and fish (tools/sampan)
#   share/man/man3                   a manual page for each function, from the comments of the headers
#   share/info/<package>             version.info, what aclsysGetVersionStr reads
#   share/doc/sampan                 README, licence, notice, changes, docs/ and examples/
# SampanLayout.cmake adds the folders and libraries that build files only name.
include(CMakePackageConfigHelpers)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(SAMPAN_CANN_VERSION "8.5.0" CACHE STRING "CANN release that version queries answer with")
set(SAMPAN_VERSION_PACKAGES "runtime" CACHE STRING "CANN packages that version queries know")

function(sampan_install)
  set(templates ${PROJECT_SOURCE_DIR}/cmake/templates)
  set(staging ${PROJECT_BINARY_DIR}/install_files)

  # The folder of every public header, acl/ among them.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include FILES_MATCHING PATTERN "*.h")

  install(TARGETS ${SAMPAN_LIBRARIES} EXPORT sampan-targets
          LIBRARY DESTINATION lib64 INCLUDES DESTINATION include)
  install(EXPORT sampan-targets NAMESPACE sampan:: DESTINATION lib64/cmake/sampan)
  configure_file(${templates}/sampan-config.cmake.in ${staging}/sampan-config.cmake @ONLY)
  write_basic_package_version_file(${staging}/sampan-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${staging}/sampan-config.cmake ${staging}/sampan-config-version.cmake
          DESTINATION lib64/cmake/sampan)
  # find_package does not look into lib64 on every distribution; it always looks into cmake.
  foreach(file sampan-config sampan-config-version)
    file(WRITE ${staging}/cmake/${file}.cmake
         "# Forwards to the package files in lib64.\n"
         "include(\${CMAKE_CURRENT_LIST_DIR}/../lib64/cmake/sampan/${file}.cmake)\n")
  endforeach()
  install(DIRECTORY ${staging}/cmake/ DESTINATION cmake)

  foreach(name sampan ascendcl)
    configure_file(${templates}/${name}.pc.in ${staging}/${name}.pc @ONLY)
    install(FILES ${staging}/${name}.pc DESTINATION lib64/pkgconfig)
  endforeach()

  if(SAMPAN_BUILD_PYTHON AND SAMPAN_PYTHON_MODULE)
    install(TARGETS acl_module LIBRARY DESTINATION python/site-packages)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/acl-stubs DESTINATION python/site-packages)
  endif()

  install(FILES ${templates}/set_env.sh DESTINATION .)
  install(FILES ${templates}/setenv.bash DESTINATION bin)

  foreach(package IN LISTS SAMPAN_VERSION_PACKAGES)
    set(SAMPAN_PACKAGE ${package})
    configure_file(${templates}/version.info.in ${staging}/info/${package}/version.info @ONLY)
    install(FILES ${staging}/info/${package}/version.info DESTINATION share/info/${package})
  endforeach()

  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
                ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/sampan)
  # The sources of the examples; their CMakeLists.txt belongs to this project.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION share/doc/sampan
          PATTERN CMakeLists.txt EXCLUDE)

  # Built with the library, so that no target has to be named for them.
  set(manuals ${staging}/man3)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/*.py)
  add_custom_command(OUTPUT ${staging}/manuals.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${manuals}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/generate_api_reference.py --man ${manuals}
    COMMAND ${CMAKE_COMMAND} -E touch ${staging}/manuals.stamp
    DEPENDS ${headers} ${scripts} ${PROJECT_SOURCE_DIR}/docs/api/COMMON.md VERBATIM)
  add_custom_target(sampan_manuals DEPENDS ${staging}/manuals.stamp)
  add_dependencies(acl_rt sampan_manuals)
  install(DIRECTORY ${manuals}/ DESTINATION share/man/man3 FILES_MATCHING PATTERN "*.3")
endfunction()
sampan_install()
