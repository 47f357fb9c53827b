# The Keras front end.
foreach(area model distribution)
  weft_unit_test(keras-${area}-test SRCS unit/keras-${area}-test.cpp LINK weft::WeftKeras)
  target_compile_definitions(keras-${area}-test PRIVATE
    WEFT_FIXTURES="${PROJECT_SOURCE_DIR}/test/fixtures")
endforeach()
