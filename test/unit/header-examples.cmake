# header-examples-test: blocks of the first comments of headers, compiled as they
# stand. weft_header_example(<header> <block> [<name>]); tools/check/
# check_examples.py sees to it that no public header is left out.
set(weft_header_examples "")
function(weft_header_example header block)
  get_filename_component(name ${header} NAME_WE)
  if(ARGN)
    set(name ${ARGN})
  endif()
  set(example ${CMAKE_CURRENT_BINARY_DIR}/header-examples/${name}.inc)
  add_custom_command(OUTPUT ${example}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/test/capi/write_example.py
      ${PROJECT_SOURCE_DIR}/${header} ${example} ${block}
    DEPENDS ${PROJECT_SOURCE_DIR}/test/capi/write_example.py ${PROJECT_SOURCE_DIR}/${header})
  set(weft_header_examples ${weft_header_examples} ${example} PARENT_SCOPE)
endfunction()
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/header-examples)
weft_header_example(base/DeviceList.h 0)
weft_header_example(runtime/abi/PlanPorts.h 0)
weft_header_example(runtime/abi/ProgramImage.h 1)
weft_header_example(base/AtomicFile.h 0)
weft_header_example(base/ElementTypes.h 0)
weft_header_example(base/EnvironmentNumber.h 0)
weft_header_example(base/PortFacts.h 0)
weft_header_example(base/PortRole.h 0)
weft_header_example(base/Result.h 0)
weft_header_example(base/Threefry.h 0)
weft_header_example(compiler/codegen/CodeCache.h 0)
weft_header_example(compiler/codegen/KernelCodegen.h 0)
weft_header_example(compiler/codegen/elements/ElementCode.h 0)
weft_header_example(compiler/codegen/elements/ElementCode.h 1 ElementCodeAttached)
weft_header_example(compiler/frontends/stablehlo/Import.h 0)
weft_header_example(compiler/stages/Pipeline.h 0)
weft_header_example(compiler/stages/StagePasses.h 0)
weft_header_example(passes/upstream/UpstreamRules.h 0)
weft_header_example(dialects/nest/TargetLimits.h 0)
weft_unit_test(header-examples-test SRCS unit/header-examples-test.cpp ${weft_header_examples}
  LINK weft::WeftDriver weft::WeftStablehlo weft::WeftUpstream)
target_include_directories(header-examples-test PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/header-examples)
