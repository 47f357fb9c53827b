# The Keras front end.
foreach(area model nested distribution)
  weft_unit_test(keras-${area}-test SRCS unit/keras-${area}-test.cpp LINK weft::WeftKerasDistribution)
  target_compile_definitions(keras-${area}-test PRIVATE
    WEFT_FIXTURES="${PROJECT_SOURCE_DIR}/test/fixtures")
endforeach()
weft_unit_test(keras-import-test SRCS unit/keras-import-test.cpp LINK weft::WeftKerasImport)
target_compile_definitions(keras-import-test PRIVATE
  WEFT_FIXTURES="${PROJECT_SOURCE_DIR}/test/fixtures")
weft_unit_test(keras-golden-test SRCS unit/keras-golden-test.cpp
  LINK weft::WeftKerasImport weft::WeftInterpret weft::WeftTrainingPasses WeftData)
target_compile_definitions(keras-golden-test PRIVATE
  WEFT_FIXTURES="${PROJECT_SOURCE_DIR}/test/fixtures"
  WEFT_EXAMPLES="${PROJECT_SOURCE_DIR}/examples")
weft_unit_test(keras-layers-test SRCS unit/keras-layers-test.cpp
  LINK weft::WeftKerasImport weft::WeftInterpret weft::WeftTrainingPasses WeftData)
target_compile_definitions(keras-layers-test PRIVATE
  WEFT_FIXTURES="${PROJECT_SOURCE_DIR}/test/fixtures")
weft_unit_test(keras-docs-test SRCS unit/keras-docs-test.cpp LINK weft::WeftKeras weft::WeftKerasOperations weft::WeftTraining)
target_compile_definitions(keras-docs-test PRIVATE WEFT_DOCS="${PROJECT_SOURCE_DIR}/docs")
