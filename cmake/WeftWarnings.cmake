# The warnings of every target. Interfaces hand a function more than it reads,
# so unused parameters are no warning.
add_compile_options(-Wall -Wextra -Wno-unused-parameter)
# [[clang::lifetimebound]] is for Clang alone.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-attributes=clang::>)

if(WEFT_WERROR)
  # These two are reported and do not stop the build. "Loop not vectorized" is a
  # remark on the optimizer: reductions compile one loop for all element types,
  # some of which the processor has no vectors of. libstdc++ 12's stable_sort
  # calls a function that libstdc++ itself declares deprecated.
  add_compile_options(-Werror -Wno-error=deprecated-declarations $<$<CXX_COMPILER_ID:Clang>:-Wno-error=pass-failed>)
endif()
