//===- Pairing.td - collectives of pairs --------------------------------------//

#ifndef WEFT_DIALECTS_COLL_PAIRING
#define WEFT_DIALECTS_COLL_PAIRING

include "mlir/IR/Interfaces.td"

def Coll_PairingOpInterface : OpInterface<"PairingOpInterface"> {
  let cppNamespace = "::weft::coll";
  let description = [{ A collective in which devices receive the whole value of others. }];
  let methods = [
    InterfaceMethod<"(sender, receiver) for each message, as positions in the mesh.",
      "::llvm::SmallVector<std::pair<int64_t, int64_t>>", "getPairs">,
  ];
}

#endif // WEFT_DIALECTS_COLL_PAIRING
