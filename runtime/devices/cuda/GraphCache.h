//===- GraphCache.h - the graphs of a program -------------------*- C++ -*-===//
//
// A graph has the addresses with which it was captured. The first run with a
// set of addresses enqueues the instructions one by one, which loads code; the
// second captures them; later ones launch the graph:
//
//   cache.find(piece, places, stream, entry);   // of at most four
//   if (entry->graph)  entry->graph->launch(stream);
//   else if (entry->hasRun)  ... capture, into entry->graph ...
//   else  ... enqueue one by one ...
//   entry->hasRun = true;
//
// A training loop has two sets, as two batches take turns. A fifth set replaces
// the one that was used the longest time ago.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GRAPHCACHE_H
#define WEFT_RUNTIME_DEVICES_CUDA_GRAPHCACHE_H

#include "weft/runtime/devices/DeviceSet.h"
#include "weft/runtime/devices/cuda/GpuMemory.h"
#include "weft/runtime/devices/cuda/StepGraph.h"

#include <list>

namespace weft::runtime {

class GraphCache {
public:
  static constexpr size_t kMostSets = 4;

  /// The places of all memory that the instructions of a piece use: ports of
  /// the run, arenas, workspaces.
  using Places = std::vector<const void *>;
  /// The first instruction of a piece, and the first position of its devices.
  using Piece = std::pair<uint32_t, size_t>;

  struct Entry {
    Places places;
    bool hasRun = false;
    std::unique_ptr<StepGraph> graph;
    /// Memory that the graph reads: tables with pointers.
    std::vector<std::shared_ptr<const GpuMemory>> tables;
    CollectiveCounts counts;       ///< counts of one device in the piece
    std::vector<std::string> last; ///< the last kernel, by device
  };
  /// Gets the entry of a piece. Waits for
  /// the stream of the graphs if it drops one.
  Status find(Piece piece, const Places &places, const GpuStream &stream,
              Entry *&out);

private:
  std::map<Piece, std::list<Entry>> pieces; ///< the latest entry first
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GRAPHCACHE_H
