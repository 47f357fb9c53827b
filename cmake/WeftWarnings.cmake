# The warnings of every target. Interfaces hand a function more than it reads,
# so unused parameters are no warning.
add_compile_options(-Wall -Wextra -Wno-unused-parameter)
# [[clang::lifetimebound]] is for Clang alone.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-attributes=clang::>)

add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/StandardDeprecations.h>")
# "Loop not vectorized" is a remark on the optimizer: reductions compile one loop
# for all element types, some of which the processor has no vectors of.
add_compile_options($<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)

if(WEFT_WERROR)
  add_compile_options(-Werror)
endif()
