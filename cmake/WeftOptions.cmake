# Every option of the build; `cmake -LH build` prints them.
option(WEFT_WERROR "Treat warnings as errors" OFF) # the presets set it; someone with another compiler need not
option(WEFT_MPI "Programs on several processes, by Open MPI" ON)
option(WEFT_CUDA "Devices on NVIDIA GPUs" ON)
# Headers take most of a compilation: twelve sources at once take the time of
# three. A build that is seldom repeated (tools/setup, preset sanitize) is so.
option(WEFT_UNITY "Compile the sources of large libraries together" OFF)
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
# Inside another project Weft's tests, benches and packages are not built.
option(BUILD_TESTING "Build Weft's tests" ${PROJECT_IS_TOP_LEVEL})

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# weft_unity(<target>): WEFT_UNITY compiles the sources of this library together.
# Not for an archive from which a program links only some objects.
function(weft_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WEFT_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()
