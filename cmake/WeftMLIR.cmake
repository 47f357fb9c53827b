# Finds and links MLIR: libMLIR.so and libLLVM.so, never together with the
# static archives beside them (two copies of MLIR in one process have two sets of
# type ids), which are linked into the wheel's binaries alone (WeftWheel.cmake).
# Debian keeps it under /usr/lib/llvm-22, which is no default prefix.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION}: ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR}) # else add_mlir_doc writes to /docs
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# mlir_tablegen() reads the directory property, not target usage requirements.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_BINARY_DIR}/include ${PROJECT_BINARY_DIR}/gen)

add_library(weft_mlir INTERFACE)
separate_arguments(weft_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_options(weft_mlir INTERFACE ${weft_llvm_definitions}
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
# Statistics of passes have one layout in our code and in libMLIR, also where only
# ours has assertions (presets debug, sanitize, tsan).
if(NOT LLVM_ENABLE_ASSERTIONS)
  target_include_directories(weft_mlir BEFORE INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cmake/llvm-headers>)
endif()
target_include_directories(weft_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(weft_mlir INTERFACE
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/gen>
  $<INSTALL_INTERFACE:include>)
weft_linked(weft_mlir_libraries SHARED MLIR LLVM) # a standalone target has the archives (WeftWheel)
target_link_libraries(weft_mlir INTERFACE ${weft_mlir_libraries})

# weft_mlir_library(<name> SRCS ... LINK <own libraries> DEPENDS <generated>)
function(weft_mlir_library name)
  cmake_parse_arguments(A "" "" "SRCS;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${A_SRCS})
  add_library(weft::${name} ALIAS ${name})
  target_link_libraries(${name} PUBLIC weft_mlir ${A_LINK})
  weft_precompiled(${name} weft_mlir_header)
  weft_unity(${name})
  if(A_DEPENDS)
    add_dependencies(${name} ${A_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_LIBRARIES ${name})
endfunction()
