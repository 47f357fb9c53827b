/* MLIR's C API parses, compiles and prints a module with Weft's dialects, and
 * hands it to compile_built(), the example of compiler/capi/WeftC.h. */
#include "WeftC-example.h"

#include <stdio.h>
#include <string.h>

static const char program[] =
    "#mesh = #weft.mesh<\"data\"=2>\n"
    "module attributes {weft.mesh = #mesh} {\n"
    "  func.func @f(%x: tensor<8xf32> {weft.name = \"x\", weft.role = "
    "\"input\",\n"
    "      weft.layout = #weft.layout<#mesh, [{\"data\"}]>})\n"
    "      -> (tensor<8xf32> {weft.name = \"y\"}) {\n"
    "    %0 = weft.relu %x : tensor<8xf32>\n"
    "    return %0 : tensor<8xf32>\n"
    "  }\n"
    "}\n";

static void toStdout(MlirStringRef text, void *unused) {
  fwrite(text.data, 1, text.length, stdout);
}

static MlirModule build(MlirContext context) {
  return mlirModuleCreateParse(context,
                               mlirStringRefCreateFromCString(program));
}

static MlirLogicalResult runTo(MlirModule module, const char *stage) {
  return weftRunPipeline(module, mlirStringRefCreateFromCString("imported"),
                         mlirStringRefCreateFromCString(stage));
}

/* Partitions a module in a context that is made here. */
static int partition(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  weftRegisterDialects(registry);
  weftRegisterPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextLoadAllAvailableDialects(context);
  MlirModule module = build(context);
  if (mlirModuleIsNull(module))
    return 1;
  if (mlirLogicalResultIsSuccess(runTo(module, "planned")))
    return 2;
  if (mlirLogicalResultIsFailure(runTo(module, "partitioned")))
    return 3;
  mlirOperationPrint(mlirModuleGetOperation(module), toStdout, NULL);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}

/* Compiles a module in the compiler's context. */
static int compile(void) {
  weft_compiler *compiler = weft_compiler_create();
  weft_text file = {NULL, 0};
  const char *why = compile_built(compiler, build, &file);
  printf("%s\n", why ? why : "a program file");
  int failed = why || file.size < 8 ||
               memcmp(file.data + file.size - 8, "WEFTPROG", 8) != 0;
  weft_text_free(&file);
  weft_compiler_free(compiler);
  return failed ? 4 : 0;
}

int main(void) {
  int failed = partition();
  return failed ? failed : compile();
}
