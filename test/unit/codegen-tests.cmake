weft_unit_test(codegen-kernels-test SRCS unit/codegen-kernels-test.cpp LINK weft::WeftCpuCodegen)
set_source_files_properties(unit/codegen-kernels-test.cpp PROPERTIES COMPILE_OPTIONS -fexceptions)
weft_unit_test(kernel-parts-test SRCS unit/kernel-parts-test.cpp LINK weft::WeftCpuCodegen)
set_source_files_properties(unit/kernel-parts-test.cpp PROPERTIES COMPILE_OPTIONS -fexceptions)
