# `cmake --install build --prefix P`: the tools, the runtime, and what
# find_package(Weft) needs to embed the dialects and the stages.
include(CMakePackageConfigHelpers)

set(weft_embedding_libraries WeftAlgebra WeftLayout WeftDialect CollDialect HostDialect NestDialect PlanDialect WeftForeignRules WeftForeignPasses WeftInterpret WeftVerify WeftResharding
  WeftShardingPasses WeftTrainingPasses WeftKernelPasses WeftNestPasses WeftPlanningPasses WeftExplain WeftElements WeftMachineCode WeftCpuCodegen WeftCodegen WeftProgram WeftStages WeftDriver)
if(TARGET WeftGpuCodegen)
  list(APPEND weft_embedding_libraries WeftGpuCodegen)
endif()
install(TARGETS weft_mlir WeftPlanSchema WeftRuntime WeftC ${weft_embedding_libraries}
  EXPORT WeftTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS weft weft-opt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS weft-plugin WeftCommands WeftStepCommands LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET WeftCuda) # beside the runtime, which looks for them there
  install(TARGETS WeftCuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET WeftMpi)
  install(TARGETS WeftMpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
set_target_properties(WeftCommands WeftStepCommands PROPERTIES INSTALL_RPATH "$ORIGIN") # beside the runtime

foreach(folder layout runtime dialects passes compiler)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/gen/weft/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endforeach()

set(weft_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Weft)
install(EXPORT WeftTargets NAMESPACE weft:: DESTINATION ${weft_config_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/WeftConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/WeftConfig.cmake INSTALL_DESTINATION ${weft_config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/WeftConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/WeftConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/WeftConfigVersion.cmake DESTINATION ${weft_config_folder})

# `cpack -G DEB` in the build folder.
set(CPACK_PACKAGE_CONTACT "The Weft developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler and runtime for Keras models on meshes of devices")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libmlir-22-dev, mlir-22-tools")
include(CPack)
