# The warnings of every target. Interfaces hand a function more than it reads,
# so unused parameters are no warning.
add_compile_options(-Wall -Wextra -Wno-unused-parameter)

# The presets set it; someone who builds with another compiler need not.
option(WEFT_WERROR "Treat warnings as errors" OFF)
if(WEFT_WERROR)
  # "loop not vectorized" is a remark on the optimizer, and the reductions
  # compile one loop for element types that the processor has no vectors of.
  add_compile_options(-Werror $<$<CXX_COMPILER_ID:Clang>:-Wno-error=pass-failed>)
endif()
