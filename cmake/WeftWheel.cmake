# The files that `pip install weft` installs beside the Python package, laid out
# as in a prefix: bin/weft and lib/*. `tools/wheel` builds the target and packs it.
add_custom_target(WeftStandalone)
set(static_libraries "")
foreach(name gif hdf5 jpeg png16 zip)
  list(APPEND static_libraries ${WEFT_STATIC_PREFIX}/lib/lib${name}.a)
endforeach()
add_custom_command(OUTPUT ${static_libraries}
  COMMAND ${PROJECT_SOURCE_DIR}/tools/packaging/static-libraries ${PROJECT_BINARY_DIR}
  COMMENT "static libraries from Debian's sources")
add_custom_target(WeftStaticLibraries DEPENDS ${static_libraries})

# MLIR's and LLVM's archives as files: MLIR's exported targets name libLLVM.so.
# The linker takes the members that are used.
get_property(mlir_names GLOBAL PROPERTY MLIR_ALL_LIBS)
set(weft_llvm_archives "")
foreach(name ${mlir_names} ${LLVM_AVAILABLE_LIBS})
  if(EXISTS ${LLVM_LIBRARY_DIR}/lib${name}.a)
    list(APPEND weft_llvm_archives ${LLVM_LIBRARY_DIR}/lib${name}.a)
  endif()
endforeach()
list(REMOVE_DUPLICATES weft_llvm_archives)

# LLD initializes every target that its LLVM was configured with. Weft makes code
# for two of them; the others' initializers are empty, so that they are not linked.
set(absent "/* Written by cmake/WeftWheel.cmake. */\n")
foreach(target ${LLVM_TARGETS_TO_BUILD})
  if(NOT target MATCHES "^(X86|NVPTX)$")
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND absent "void LLVMInitialize${target}${part}(void) {}\n")
    endforeach()
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gen/AbsentTargets.c CONTENT "${absent}")

weft_standalone(WeftStandaloneCommand FOLDER bin OUTPUT weft-standalone OF weft)
weft_standalone(WeftStandaloneSteps FOLDER lib OUTPUT WeftStepCommands OF WeftStepCommands)
weft_standalone(WeftStandaloneServing FOLDER lib OUTPUT WeftServing OF WeftServing)
# The compiler once: for the command line, for JAX and for weft.Context.
weft_standalone(WeftStandaloneCompiler COMPILER FOLDER lib OUTPUT WeftCommands OF WeftCommands WeftPjrt WeftC)
