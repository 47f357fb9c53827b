# Standalone binaries, those of the wheel (tools/wheel): the objects and archives
# of this build linked a second time, with LLVM, MLIR and every other library from
# static archives. They need glibc alone and export the symbols of weft-standalone.map.
# Nothing builds them but the target WeftStandalone.

# weft_linked(<out> SHARED <items> STATIC <items>): the items to link, by the
# target that is linked in the end: STATIC for a standalone one.
function(weft_linked out)
  cmake_parse_arguments(A "" "" "SHARED;STATIC" ${ARGN})
  set(is_standalone "$<BOOL:$<TARGET_PROPERTY:WEFT_STANDALONE>>")
  set(items "")
  foreach(item ${A_SHARED})
    list(APPEND items "$<$<NOT:${is_standalone}>:${item}>")
  endforeach()
  foreach(item ${A_STATIC})
    list(APPEND items "$<${is_standalone}:${item}>")
  endforeach()
  set(${out} ${items} PARENT_SCOPE)
endfunction()

# The archives that tools/packaging/static-libraries makes: Debian has none of
# libzip, and its others fit in no shared library.
find_library(WEFT_STATIC_ZLIB libz.a)
find_library(WEFT_STATIC_ZSTD libzstd.a)
find_library(WEFT_STATIC_PCRE2 libpcre2-8.a)
set(WEFT_STATIC_PREFIX ${PROJECT_BINARY_DIR}/static)

# weft_standalone(<name> OUTPUT <file name> OF <targets>): the objects of the
# targets as one binary in build/standalone.
function(weft_standalone name)
  cmake_parse_arguments(A "COMPILER" "FOLDER;OUTPUT" "OF" ${ARGN})
  set(objects "")
  set(libraries "")
  foreach(target ${A_OF})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
    get_target_property(linked ${target} LINK_LIBRARIES)
    list(APPEND libraries ${linked})
    get_target_property(type ${target} TYPE)
  endforeach()
  if(type STREQUAL "EXECUTABLE")
    add_executable(${name} EXCLUDE_FROM_ALL ${objects})
  else()
    add_library(${name} SHARED EXCLUDE_FROM_ALL ${objects})
    target_link_options(${name} PRIVATE -Wl,-z,defs -Wl,--undefined-version
      -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/weft-standalone.map)
  endif()
  set(folder ${PROJECT_BINARY_DIR}/standalone/${A_FOLDER})
  set_target_properties(${name} PROPERTIES WEFT_STANDALONE ON LINKER_LANGUAGE CXX OUTPUT_NAME ${A_OUTPUT}
    LIBRARY_OUTPUT_DIRECTORY ${folder} RUNTIME_OUTPUT_DIRECTORY ${folder}
    INSTALL_RPATH "$ORIGIN/../lib" INSTALL_RPATH_USE_LINK_PATH OFF
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/weft-standalone.map)
  target_link_libraries(${name} PRIVATE ${libraries})
  if(A_COMPILER)
    target_sources(${name} PRIVATE ${PROJECT_BINARY_DIR}/gen/AbsentTargets.c ${PROJECT_SOURCE_DIR}/tools/packaging/AbsentPolly.cpp)
    target_link_libraries(${name} PRIVATE ${weft_llvm_archives})
  endif()
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
  add_dependencies(${name} WeftStaticLibraries)
  add_dependencies(WeftStandalone ${name})
endfunction()
