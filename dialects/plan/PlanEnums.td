//===- PlanEnums.td - kinds of code, epilogues of contractions ---------------//
//
// The enums are in a separate file, as TableGen generates all enums that a
// file includes.

#ifndef WEFT_DIALECTS_PLAN_ENUMS
#define WEFT_DIALECTS_PLAN_ENUMS

include "mlir/IR/EnumAttr.td"

def Plan_ModuleFormat : I32EnumAttr<"ModuleFormat", "how code of a device is written", [
    I32EnumAttrCase<"ptx", 0>, I32EnumAttrCase<"cubin", 1>]> {
  let cppNamespace = "::weft::plan";
  let genSpecializedAttr = 0;
}
def Plan_Epilogue : I32EnumAttr<"Epilogue", "the operations on a contraction's sums", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"bias", 1>, I32EnumAttrCase<"relu", 2>,
    I32EnumAttrCase<"bias_relu", 3>, I32EnumAttrCase<"bias_gelu_tanh", 4>]> {
  let cppNamespace = "::weft::plan";
  let genSpecializedAttr = 0;
}
def Plan_Compute : I32EnumAttr<"Compute", "how exact the products of a contraction are", [
    I32EnumAttrCase<"full", 0>, I32EnumAttrCase<"tf32", 1>]> {
  let cppNamespace = "::weft::plan";
  let genSpecializedAttr = 0;
}

#endif // WEFT_DIALECTS_PLAN_ENUMS
