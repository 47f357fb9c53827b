/* The C API alone parses, compiles and prints a module. */
#include "weft/compiler/capi/WeftC.h"

#include <stdio.h>

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

static MlirLogicalResult runTo(MlirModule module, const char *stage) {
  return weftRunPipeline(module, mlirStringRefCreateFromCString("imported"),
                         mlirStringRefCreateFromCString(stage));
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  weftRegisterDialects(registry);
  weftRegisterPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextLoadAllAvailableDialects(context);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(program));
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
