# A transport that is as slow as a stated network (slow-mpi.cpp), with the
# runtime beside it: LD_LIBRARY_PATH=build/lib/slow-mpi.
if(TARGET WeftMpi)
  find_package(Threads REQUIRED)
  add_library(WeftSlowMpi MODULE mpi/slow-mpi.cpp)
  target_link_libraries(WeftSlowMpi PRIVATE WeftPlanSchema Threads::Threads)
  target_compile_options(WeftSlowMpi PRIVATE -fvisibility=hidden)
  set_target_properties(WeftSlowMpi PROPERTIES OUTPUT_NAME WeftMpi
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/slow-mpi)
  add_dependencies(WeftSlowMpi WeftMpi WeftRuntime)
  add_custom_command(TARGET WeftSlowMpi POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink
    ../libWeftRuntime.so.0 ${PROJECT_BINARY_DIR}/lib/slow-mpi/libWeftRuntime.so.0)
endif()
