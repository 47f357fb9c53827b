# WEFT_SANITIZE: the value of -fsanitize=, "address,undefined" (preset
# sanitize) or "thread" (preset tsan); empty for none.
if(WEFT_SANITIZE)
  # MLIR's dylib has no type information that vptr checks could use; -O1
  # because a test under a sanitizer is slow enough.
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize=vptr
    -fno-sanitize-recover=all -fno-omit-frame-pointer -gline-tables-only -O1)
  add_compile_definitions(_GLIBCXX_ASSERTIONS) # an index past a std::vector's end
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()
