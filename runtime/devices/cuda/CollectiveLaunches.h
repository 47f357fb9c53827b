//===- CollectiveLaunches.h - the kernels of a collective -------*- C++ -*-===//
//
// A collective, or a part of one, on the arrays of one GPU's tables: one
// kernel, or one for each element type that it reduces.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_COLLECTIVELAUNCHES_H
#define WEFT_RUNTIME_DEVICES_CUDA_COLLECTIVELAUNCHES_H

#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/devices/cuda/BuiltinKernels.h"
#include "weft/runtime/devices/cuda/GpuTables.h"

namespace weft::runtime {

class CollectiveLaunches {
public:
  /// Adds the rows of a table, and finds its kernels. Reductions combine
  /// `members` sources; a target that is null is left out. Moves name their
  /// arrays by numbers of pointers.
  static Status make(const CollectiveTable &table, const Collective &collective,
                     int64_t members, GpuTables &tables,
                     BuiltinKernels &builtin, CollectiveLaunches &out);

  /// Sets the arrays, by their positions among the tables' pointers.
  void setArrays(uint64_t sourcesAt, uint64_t targetsAt) {
    sources = sourcesAt;
    targets = targetsAt;
  }
  /// The share of one of several GPUs that divide the rows. The first GPU also
  /// makes the calls that have no rows.
  CollectiveLaunches slice(int64_t number, int64_t count) const;
  bool isEmpty() const { return calls.empty(); }
  Status launch(const GpuStream &stream) const;

private:
  /// A kernel parameter: a number, a position in the tables, or the pointers
  /// of the group's arrays.
  struct Parameter {
    enum Kind : uint8_t { Number, Rows, Pieces, Count, Sources, Targets } kind;
    uint64_t value = 0;
  };
  struct Call {
    std::string text, symbol; ///< see BuiltinKernels
    uint64_t rows, rowBytes;  ///< the pieces; 0 bytes: there are none
    int64_t count;            ///< number of pieces, and the most blocks
    std::vector<Parameter> parameters;
    GpuFunction kernel;
  };
  struct CallMaker;

  const GpuTables *tables = nullptr;
  uint64_t sources = 0, targets = 0;
  std::vector<Call> calls;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_COLLECTIVELAUNCHES_H
