//===- CountedLoop.td - loops whose number of rounds is known ----------------//

#ifndef WEFT_DIALECTS_WEFT_COUNTEDLOOP
#define WEFT_DIALECTS_WEFT_COUNTEDLOOP

include "mlir/IR/OpBase.td"

def CountedLoopOpInterface : OpInterface<"CountedLoopOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    A loop that may know how often it runs its body. What moves in each round
    is priced that often.
  }];
  let methods = [
    InterfaceMethod<"Returns the number of rounds, or nothing if it depends on values.",
      "std::optional<int64_t>", "getRounds">,
  ];
}

#endif // WEFT_DIALECTS_WEFT_COUNTEDLOOP
