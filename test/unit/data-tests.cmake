# Tests of runtime/data and runtime/training against the fixtures of Keras.
foreach(name keras-archive npz initializers shuffle)
  weft_unit_test(${name}-test SRCS unit/${name}-test.cpp LINK weft::WeftData nlohmann_json::nlohmann_json)
  target_compile_definitions(${name}-test PRIVATE WEFT_FIXTURES="${PROJECT_SOURCE_DIR}/test/fixtures")
endforeach()
foreach(name progress)
  weft_unit_test(${name}-test SRCS unit/${name}-test.cpp LINK weft::WeftTraining nlohmann_json::nlohmann_json)
  target_compile_definitions(${name}-test PRIVATE WEFT_FIXTURES="${PROJECT_SOURCE_DIR}/test/fixtures")
endforeach()
