# The CUDA road without a GPU, see docs/gpu-testing.md.
# The declarations of the driver API are compared where CUDA's own are installed.
find_path(WEFT_CUDA_INCLUDE cuda.h NO_DEFAULT_PATH PATHS
  $ENV{CUDA_HOME}/include /usr/local/cuda/include /usr/local/include
  DOC "Folder of CUDA's cuda.h, for test/cuda/driver-abi-test.cpp")
if(WEFT_CUDA_INCLUDE)
  weft_unit_test(driver-abi-test SRCS cuda/driver-abi-test.cpp)
  target_include_directories(driver-abi-test SYSTEM PRIVATE ${WEFT_CUDA_INCLUDE})
  if(EXISTS ${WEFT_CUDA_INCLUDE}/cublasLt.h)
    weft_unit_test(cublaslt-abi-test SRCS cuda/cublaslt-abi-test.cpp)
    target_include_directories(cublaslt-abi-test SYSTEM PRIVATE ${WEFT_CUDA_INCLUDE})
  else()
    message(STATUS "no cublasLt.h: cublaslt-abi-test is left out")
  endif()
  if(EXISTS ${WEFT_CUDA_INCLUDE}/nccl.h AND EXISTS ${WEFT_CUDA_INCLUDE}/cuda_runtime.h)
    weft_unit_test(nccl-abi-test SRCS cuda/nccl-abi-test.cpp)
    target_include_directories(nccl-abi-test SYSTEM PRIVATE ${WEFT_CUDA_INCLUDE})
  else()
    message(STATUS "no nccl.h: nccl-abi-test is left out")
  endif()
else()
  message(STATUS "no cuda.h: driver-abi-test is left out")
endif()
add_subdirectory(cuda/machine)
weft_unit_test(ptx-machine-test SRCS cuda/ptx-integer-test.cpp cuda/ptx-bits-test.cpp
  cuda/ptx-float-test.cpp cuda/ptx-conversion-test.cpp cuda/ptx-warp-test.cpp
  cuda/ptx-memory-test.cpp cuda/ptx-faults-test.cpp cuda/ptx-matrix-test.cpp LINK WeftPtxMachine)
if(TARGET WeftGpuCodegen)
  weft_unit_test(ptx-kernels-test SRCS cuda/ptx-kernels-test.cpp LINK WeftPtxMachine)
  target_compile_definitions(ptx-kernels-test PRIVATE WEFT_OPT="$<TARGET_FILE:weft-opt>"
    WEFT_GPU_KERNELS="${PROJECT_SOURCE_DIR}/test/pipeline/Inputs/gpu-kernels.mlir")
  add_dependencies(ptx-kernels-test weft-opt)
  weft_unit_test(gpu-walks-test SRCS cuda/gpu-placement-test.cpp cuda/gpu-tiles-test.cpp cuda/gpu-transposed-test.cpp cuda/gpu-updates-test.cpp cuda/gpu-walks-test.cpp
    cuda/WalkRuns.cpp cuda/DeviceOps.cpp
    LINK WeftPtxMachine weft::WeftKernelPasses weft::WeftNestPasses weft::WeftInterpret weft::WeftCodegen)
  weft_unit_test(gpu-every-op-test SRCS cuda/gpu-every-op-test.cpp cuda/DeviceOps.cpp unit/OpCases.cpp
    LINK WeftPtxMachine weft::WeftTrainingPasses weft::WeftShardingPasses weft::WeftKernelPasses weft::WeftNestPasses weft::WeftInterpret weft::WeftCodegen)
  target_compile_definitions(gpu-every-op-test PRIVATE WEFT_OP_GOLDENS="${PROJECT_SOURCE_DIR}/test/fixtures/ops/goldens.json")
endif()
# For lit tests: see its first lines.
add_executable(ptx-run cuda/ptx-run.cpp)
target_link_libraries(ptx-run PRIVATE WeftPtxMachine)
target_include_directories(ptx-run PRIVATE ${PROJECT_BINARY_DIR}/include)
add_subdirectory(cuda/driver)
add_subdirectory(cuda/cublaslt)
add_subdirectory(cuda/nccl)
# Loads whichever libcuda.so.1 the loader finds: in a build folder the fake, of
# which several orders are tried; elsewhere the machine's own.
add_executable(cuda-driver-test cuda/cuda-driver-test.cpp cuda/cuda-driver-faults-test.cpp
  cuda/cuda-driver-graph-test.cpp)
target_link_libraries(cuda-driver-test PRIVATE weft_catch_main ${CMAKE_DL_LIBS})
target_include_directories(cuda-driver-test PRIVATE ${PROJECT_BINARY_DIR}/include)
target_compile_options(cuda-driver-test PRIVATE -fexceptions)
add_dependencies(cuda-driver-test fake_cuda)
set_target_properties(cuda-driver-test PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/fake-cuda")
foreach(seed 1 2 3)
  add_test(NAME cuda-driver-test-seed-${seed} COMMAND ${CMAKE_COMMAND} -E env
    FAKE_CUDA_SEED=${seed} $<TARGET_FILE:cuda-driver-test>)
endforeach()
# The same for NCCL, between four GPUs.
add_executable(nccl-test cuda/nccl-test.cpp)
target_link_libraries(nccl-test PRIVATE weft_catch_main ${CMAKE_DL_LIBS})
target_include_directories(nccl-test PRIVATE ${PROJECT_BINARY_DIR}/include)
target_compile_options(nccl-test PRIVATE -fexceptions)
add_dependencies(nccl-test fake_nccl)
set_target_properties(nccl-test PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/fake-cuda")
foreach(seed 1 2 3)
  add_test(NAME nccl-test-seed-${seed} COMMAND ${CMAKE_COMMAND} -E env
    FAKE_CUDA_GPUS=4 FAKE_CUDA_SEED=${seed} $<TARGET_FILE:nccl-test>)
endforeach()
add_test(NAME cuda-driver-test-2-gpus COMMAND ${CMAKE_COMMAND} -E env
  FAKE_CUDA_GPUS=2 $<TARGET_FILE:cuda-driver-test>)
weft_unit_test(graph-hazards-test SRCS cuda/graph-hazards-test.cpp LINK WeftRuntime ${CMAKE_DL_LIBS})
add_dependencies(graph-hazards-test fake_cuda)
set_target_properties(graph-hazards-test PROPERTIES INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN/../lib/fake-cuda")
# Programs of collectives or contractions alone, on the fake driver: the program
# loads it, and the fake library, before the runtime does.
foreach(test gpu-collectives-test gpu-collectives-meaning-test gpu-contractions-test gpu-nccl-test gpu-staging-test)
  set(source cuda/gpu-collectives-test.cpp cuda/gpu-runs-test.cpp)
  if(test STREQUAL gpu-collectives-meaning-test)
    set(source unit/runtime-collectives-test.cpp)
  elseif(test STREQUAL gpu-contractions-test)
    set(source cuda/gpu-contractions-test.cpp)
  elseif(test STREQUAL gpu-nccl-test)
    set(source cuda/gpu-nccl-test.cpp)
  elseif(test STREQUAL gpu-staging-test)
    set(source cuda/gpu-staging-test.cpp)
  endif()
  weft_unit_test(${test} SRCS ${source} LINK WeftRuntime)
  target_compile_definitions(${test} PRIVATE WEFT_TEST_DEVICES="cuda:"
    WEFT_TEST_KERNELS="$<TARGET_FILE:weft_test_kernels>")
  add_dependencies(${test} weft_test_kernels WeftCuda fake_cublaslt)
  set(fakes fake_nccl) # which needs fake_cuda
  if(test STREQUAL gpu-contractions-test)
    set(fakes fake_cublaslt) # which needs the other
  endif()
  target_link_libraries(${test} PRIVATE -Wl,--no-as-needed ${fakes} -Wl,--as-needed)
  set_target_properties(${test} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN/../lib/fake-cuda")
  foreach(seed 2 3)
    add_test(NAME ${test}-seed-${seed} COMMAND ${CMAKE_COMMAND} -E env
      FAKE_CUDA_SEED=${seed} $<TARGET_FILE:${test}>)
  endforeach()
endforeach()
# For test/cuda/processes.test: mpirun runs it.
add_executable(gpu-together-test unit/runtime-together-test.cpp)
target_link_libraries(gpu-together-test PRIVATE weft_catch_main WeftRuntime)
target_compile_options(gpu-together-test PRIVATE -fexceptions)
target_compile_definitions(gpu-together-test PRIVATE WEFT_TEST_DEVICES="cuda:"
  WEFT_TEST_KERNELS="$<TARGET_FILE:weft_test_kernels>")
add_dependencies(gpu-together-test weft_test_kernels WeftCuda fake_nccl)
add_test(NAME gpu-staging-2-gpus COMMAND ${CMAKE_COMMAND} -E env
  FAKE_CUDA_GPUS=2 $<TARGET_FILE:gpu-staging-test>)
foreach(gpus 2 3)
  add_test(NAME gpu-collectives-${gpus}-gpus COMMAND ${CMAKE_COMMAND} -E env
    FAKE_CUDA_GPUS=${gpus} FAKE_CUDA_SEED=${gpus} $<TARGET_FILE:gpu-collectives-test>)
endforeach()
foreach(gpus 2 4 8)
  add_test(NAME gpu-nccl-${gpus}-gpus COMMAND ${CMAKE_COMMAND} -E env
    FAKE_CUDA_GPUS=${gpus} FAKE_CUDA_SEED=${gpus} FAKE_CUDA_PEERS=none WEFT_TEST_COLLECTIVES=nccl
    $<TARGET_FILE:gpu-nccl-test>)
endforeach()
foreach(kernel 1 2)
  foreach(case failing loop)
    add_test(NAME gpu-nccl-${case}-${kernel} COMMAND ${CMAKE_COMMAND} -E env
      FAKE_CUDA_GPUS=2 FAKE_CUDA_FAIL=kernel:${kernel} WEFT_TEST_COLLECTIVES=nccl
      $<TARGET_FILE:gpu-nccl-test> "[.${case}]")
  endforeach()
endforeach()
add_test(NAME gpu-nccl-failing-call COMMAND ${CMAKE_COMMAND} -E env
  FAKE_CUDA_GPUS=2 FAKE_CUDA_FAIL=ncclAllReduce:2 WEFT_TEST_COLLECTIVES=nccl
  $<TARGET_FILE:gpu-nccl-test> "[.call]")
# The collectives between GPUs that send each other what they lack.
foreach(gpus 4 8)
  add_test(NAME gpu-collectives-exact-${gpus}-gpus COMMAND ${CMAKE_COMMAND} -E env
    FAKE_CUDA_GPUS=${gpus} FAKE_CUDA_SEED=${gpus} FAKE_CUDA_PEERS=none WEFT_TEST_COLLECTIVES=exact
    $<TARGET_FILE:gpu-collectives-test>)
endforeach()
add_test(NAME gpu-collectives-apart COMMAND ${CMAKE_COMMAND} -E env
  FAKE_CUDA_GPUS=2 FAKE_CUDA_PEERS=none WEFT_CUDA_LIBRARIES=none $<TARGET_FILE:gpu-collectives-test> "[.apart]")
add_test(NAME gpu-runs-ahead-failing COMMAND ${CMAKE_COMMAND} -E env
  FAKE_CUDA_FAIL=kernel:2 $<TARGET_FILE:gpu-collectives-test> "[.ahead]")
# The fake's usual error, and others after which a GPU takes nothing more: of its
# memory (ECC), of NVLink, contained ones, of tensor memory.
foreach(result 700 214 220 226 721)
  add_test(NAME gpu-collectives-failing-${result} COMMAND ${CMAKE_COMMAND} -E env
    FAKE_CUDA_FAIL=kernel:2:${result} $<TARGET_FILE:gpu-collectives-test> "[.failing]")
endforeach()
