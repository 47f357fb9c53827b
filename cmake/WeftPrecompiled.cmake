# Two precompiled headers, with the flags of a library: that of MLIR, and that of
# the standard library and JSON for sources without MLIR. Each is used by many
# targets (REUSE_FROM), so that it is compiled once.

# weft_header(<name> <header>)
function(weft_header name header)
  add_library(${name} STATIC ${PROJECT_SOURCE_DIR}/cmake/Precompiled.cpp)
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
  # Without it the precompiled header differs in every build and ccache misses.
  target_compile_options(${name} PRIVATE
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:SHELL:-Xclang -fno-pch-timestamp>")
  # It names its folder: from ccache it would name that of another clone, which may
  # be gone.
  set_target_properties(${name} PROPERTIES C_COMPILER_LAUNCHER "" CXX_COMPILER_LAUNCHER "")
endfunction()
weft_header(weft_std_header PrecompiledStandard.h)
weft_header(weft_mlir_header PrecompiledMLIR.h)
target_link_libraries(weft_mlir_header PUBLIC weft_mlir)

# weft_precompiled(<target> <header>): the target takes one of the two. A program
# needs the flags of a library for that: -fPIC, not -fPIE.
function(weft_precompiled target header)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM ${header})
  set_target_properties(${target} PROPERTIES WEFT_HEADER ${header})
endfunction()

# weft_precompiled_as(<target> <library>...): MLIR's, if a library of these has it.
function(weft_precompiled_as target)
  set(header weft_std_header)
  foreach(library ${ARGN})
    if(TARGET ${library})
      get_target_property(used ${library} WEFT_HEADER)
      if(used STREQUAL weft_mlir_header)
        set(header weft_mlir_header)
      endif()
    endif()
  endforeach()
  weft_precompiled(${target} ${header})
endfunction()
