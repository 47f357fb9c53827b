//===- HloNames.td - opcodes of XLA, from the definitions of ops -------------//
//
// The definition of an op of weft names the StableHLO op with the same meaning;
// the definition of a collective names XLA's opcode. Entries are needed
// here only if XLA's name differs from StableHLO's by more than `-` instead of `_`.
//
//===----------------------------------------------------------------------===//

include "llvm/TableGen/SearchableTable.td"
include "weft/dialects/coll/CollOps.td"
include "weft/dialects/weft/ops/FlowOps.td"
include "weft/dialects/weft/ops/FoldOps.td"
include "weft/dialects/weft/ops/IndexingOps.td"
include "weft/dialects/weft/ops/LinearAlgebraOps.td"
include "weft/dialects/weft/ops/ScanOps.td"
include "weft/dialects/weft/WeftOps.td"
include "weft/dialects/weft/ops/WindowOps.td"

def kWeftOps : GenericTable {
  let FilterClass = "Weft_Op";
  let CppTypeName = "Renaming";
  let Fields = ["opName", "stablehlo"];
}
def kCollOps : GenericTable {
  let FilterClass = "Coll_Op";
  let CppTypeName = "Renaming";
  let Fields = ["opName", "hlo"];
}

// A StableHLO opcode and XLA's name for it.
class Opcode<string stablehlo, string hlo> {
  string From = stablehlo;
  string To = hlo;
}
def : Opcode<"broadcast_in_dim", "broadcast">;
def : Opcode<"case, if", "conditional">;
def : Opcode<"chlo.erf", "erf">;
def : Opcode<"chlo.top_k", "topk">;
def : Opcode<"dot_general", "dot">;
def : Opcode<"optimization_barrier", "opt-barrier">;
def : Opcode<"reduce with any body, of several operands", "reduce">;
def : Opcode<"reduce_window of the dimension", "reduce-window">;
def : Opcode<"while with a counter", "while">;
def kOpcodes : GenericTable {
  let FilterClass = "Opcode";
  let CppTypeName = "Renaming";
  let Fields = ["From", "To"];
}

// An attribute with another name in XLA.
class AttributeName<string weft, string hlo> {
  string From = weft;
  string To = hlo;
}
def : AttributeName<"dim", "dimensions">;
def : AttributeName<"dims", "dimensions">;
def : AttributeName<"permutation", "dimensions">;
def : AttributeName<"lhs_batch", "lhs_batch_dims">;
def : AttributeName<"lhs_contract", "lhs_contracting_dims">;
def : AttributeName<"rhs_batch", "rhs_batch_dims">;
def : AttributeName<"rhs_contract", "rhs_contracting_dims">;
def kAttributes : GenericTable {
  let FilterClass = "AttributeName";
  let CppTypeName = "Renaming";
  let Fields = ["From", "To"];
}

// The words before the computations of an instruction, one for each of its last
// regions.
class Computations<string hlo, string words> {
  string From = hlo;
  string To = words;
}
def : Computations<"while", "condition body">;
def kComputations : GenericTable {
  let FilterClass = "Computations";
  let CppTypeName = "Renaming";
  let Fields = ["From", "To"];
}
