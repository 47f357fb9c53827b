weft_unit_test(device-list-test SRCS unit/device-list-test.cpp LINK weft::WeftBase)
# Kernels for hand-written plans: a shared object as the compiler makes one.
add_library(weft_test_kernels MODULE ${CMAKE_CURRENT_LIST_DIR}/runtime-kernels.c)
foreach(name async execute collectives file isolation joint plan plan-kernels sharing starts)
  weft_unit_test(runtime-${name}-test SRCS unit/runtime-${name}-test.cpp LINK WeftRuntime)
  target_compile_definitions(runtime-${name}-test PRIVATE
    WEFT_TEST_KERNELS="$<TARGET_FILE:weft_test_kernels>")
  add_dependencies(runtime-${name}-test weft_test_kernels)
endforeach()
weft_unit_test(runtime-hazards-test SRCS unit/runtime-hazards-test.cpp LINK WeftRuntime)
# The runtime's library exports its C API only: its parts are linked in.
weft_unit_test(runtime-executor-test SRCS unit/runtime-executor-test.cpp ${PROJECT_SOURCE_DIR}/runtime/devices/RunQueue.cpp
  ${PROJECT_SOURCE_DIR}/runtime/devices/Ticket.cpp
  LINK weft_runtime_program weft_runtime_processes weft_runtime_collectives weft_runtime_cpu ${CMAKE_DL_LIBS})
target_compile_definitions(runtime-executor-test PRIVATE
  WEFT_TEST_KERNELS="$<TARGET_FILE:weft_test_kernels>")
add_dependencies(runtime-executor-test weft_test_kernels)
weft_unit_test(runtime-traffic-test SRCS unit/runtime-traffic-test.cpp
  LINK weft_runtime_program weft_runtime_processes weft_runtime_collectives ${CMAKE_DL_LIBS})
target_compile_definitions(runtime-traffic-test PRIVATE
  WEFT_TEST_KERNELS="$<TARGET_FILE:weft_test_kernels>")
add_dependencies(runtime-traffic-test weft_test_kernels)
# For test/exec/mpi-collectives.test: mpirun runs it.
add_executable(runtime-together-test unit/runtime-together-test.cpp)
target_link_libraries(runtime-together-test PRIVATE weft_catch_main WeftRuntime)
target_compile_options(runtime-together-test PRIVATE -fexceptions)
target_compile_definitions(runtime-together-test PRIVATE
  WEFT_TEST_KERNELS="$<TARGET_FILE:weft_test_kernels>")
add_dependencies(runtime-together-test weft_test_kernels)
# For lit tests: see its first lines.
add_executable(compare-runs exec/compare-runs.cpp)
target_link_libraries(compare-runs PRIVATE WeftRuntime)
# Command lines of weft for test/exec/flag-use.test.
add_executable(flag-runs exec/flag-runs.cpp)
target_link_libraries(flag-runs PRIVATE WeftCommandLine)
add_dependencies(flag-runs WeftCommands WeftStepCommands)
