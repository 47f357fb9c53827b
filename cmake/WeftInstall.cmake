# `cmake --install build --prefix P`: the tools, the runtime, and the headers and
# libraries with which find_package(Weft) runs programs and embeds the compiler.
# Components are the Debian packages of WeftPackages.cmake.
include(CMakePackageConfigHelpers)

set(weft_embedding_libraries WeftBase WeftLapack WeftPipeline WeftLayout WeftShardingRules WeftDialect CollDialect HostDialect NestDialect PlanDialect WeftUpstream WeftInterpret WeftVerify WeftLayoutSolver WeftResharding
  WeftShardingPasses WeftCollectivePasses WeftTrainingPasses WeftKernelPasses WeftNestPasses WeftPlanningPasses WeftRingPasses WeftExplain WeftElements WeftMachineCode WeftCpuCodegen WeftCodegen WeftProgram WeftStages WeftDriver)
if(TARGET WeftGpuCodegen)
  list(APPEND weft_embedding_libraries WeftGpuCodegen)
endif()
install(TARGETS weft_mlir WeftC WeftPlugin ${weft_embedding_libraries} EXPORT WeftCompilerTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS WeftPlanSchema WeftRuntime WeftServing EXPORT WeftRuntimeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT weft)
install(TARGETS weft-opt weft-lsp-server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dev)
install(TARGETS weft-plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS WeftCommands WeftStepCommands WeftPjrt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT weft)
if(TARGET WeftCuda) # beside the runtime, which looks for them there
  install(TARGETS WeftCuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endif()
if(TARGET WeftMpi) # with the command: Open MPI is no need of the runtime
  install(TARGETS WeftMpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT weft)
endif()
set_target_properties(WeftCommands WeftStepCommands WeftServing PROPERTIES INSTALL_RPATH "$ORIGIN") # beside the runtime

foreach(folder base layout runtime data training dialects passes compiler)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/gen/weft/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft COMPONENT dev
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endforeach()

set(weft_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Weft)
install(EXPORT WeftRuntimeTargets NAMESPACE weft:: DESTINATION ${weft_config_folder} COMPONENT dev)
install(EXPORT WeftCompilerTargets NAMESPACE weft:: DESTINATION ${weft_config_folder} COMPONENT dev)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/WeftConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/WeftConfig.cmake INSTALL_DESTINATION ${weft_config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/WeftConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/WeftConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/WeftConfigVersion.cmake DESTINATION ${weft_config_folder} COMPONENT dev)
