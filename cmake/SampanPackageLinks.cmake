# Run by CPack on the staged files: relative links, so that they also lead home below another root.
file(GLOB manuals RELATIVE ${CPACK_TEMPORARY_DIRECTORY}/opt/sampan
     ${CPACK_TEMPORARY_DIRECTORY}/opt/sampan/share/man/man3/*.3)
list(TRANSFORM manuals REPLACE "(.+)" "usr/\\1:\\1")
foreach(link
    ${manuals}
    usr/bin/sampan:bin/sampan
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
