# Run by CPack on the staged files: relative links, so that they also lead home below another root.
file(GLOB manuals RELATIVE ${CPACK_TEMPORARY_DIRECTORY}/opt/sampan
     ${CPACK_TEMPORARY_DIRECTORY}/opt/sampan/share/man/man3/*.3)
list(TRANSFORM manuals REPLACE "(.+)" "usr/\\1:\\1")
foreach(link
    ${manuals}
    usr/bin/sampan:bin/sampan
    usr/share/doc/sampan:share/doc/sampan
    usr/bin/hccl_bench:bin/hccl_bench
    usr/share/man/man1/sampan.1:share/man/man1/sampan.1
    usr/share/bash-completion/completions/sampan:share/bash-completion/completions/sampan
    usr/share/zsh/vendor-completions/_sampan:share/zsh/vendor-completions/_sampan
    usr/share/fish/vendor_completions.d/sampan.fish:share/fish/vendor_completions.d/sampan.fish)
  string(REPLACE ":" ";" link ${link})
  list(GET link 0 name)
  list(GET link 1 target)
  cmake_path(GET name PARENT_PATH folder)
  string(REGEX REPLACE "[^/]+" ".." up ${folder})
  file(MAKE_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY}/${folder})
  file(CREATE_LINK ${up}/opt/sampan/${target} ${CPACK_TEMPORARY_DIRECTORY}/${name} SYMBOLIC)
endforeach()

# The system's Python finds the module acl by a file of paths: a link to it would not find its library.
if(EXISTS ${CPACK_TEMPORARY_DIRECTORY}/opt/sampan/python/site-packages/acl.so)
  file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/usr/lib/python3/dist-packages/sampan.pth "/opt/sampan/python/site-packages\n")
endif()

# A file with the folder written into it: pkg-config looks for a relative one from the link, not from where it leads.
set(from ${CPACK_TEMPORARY_DIRECTORY}/opt/sampan/lib64/pkgconfig)
foreach(package sampan ascendcl)
  file(READ ${from}/${package}.pc text)
  string(REPLACE "prefix=\${pcfiledir}/../.." "prefix=/opt/sampan" text "${text}")
  string(REPLACE ", found relative to this file" "" text "${text}")
  file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/usr/share/pkgconfig/${package}.pc "${text}")
endforeach()
