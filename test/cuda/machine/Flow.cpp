//===- Flow.cpp - branches, ends, barriers --------------------------------===//

#include "weft/test/cuda/machine/Decoder.h"
#include "weft/test/cuda/machine/Warp.h"

namespace weft::ptx {

static void decodeBranch(Decoder &d) {
  d.take("uni");
  if (d.arguments() != 1)
    return d.fail(d.name() + " takes a label");
  d.begin(nullptr).flow = Flow::Branch;
  d.jumpTo(d.argument(0).name);
}

static void decodeIndexedBranch(Decoder &d) {
  bool isIndexed = d.take("idx");
  d.take("uni");
  if (!isIndexed || d.arguments() != 2)
    return d.fail(d.name() + " takes an index and a list of targets");
  auto found = d.branchTargets.find(d.argument(1).name);
  if (found == d.branchTargets.end())
    return d.fail("targets '" + d.argument(1).name + "' are not declared");
  Instruction &i = d.begin(nullptr);
  i.flow = Flow::IndexedBranch;
  d.addSource(i, d.argument(0), 4);
  for (const std::string &label : found->second)
    d.jumpTo(label);
}

template <Flow flow> static void decodeEnd(Decoder &d) {
  d.take("uni");
  d.begin(nullptr).flow = flow;
}

static void syncWarp(Warp &warp, const Instruction &i, Mask active) {
  warp.noteSync();
}

/// Decodes bar.sync, barrier.sync, barrier.cta.sync; bar.warp.sync.
static void decodeBarrier(Decoder &d) {
  bool isWarp = d.take("warp");
  d.take("cta");
  bool isSync = d.take("sync");
  d.take("aligned");
  if (!isSync || !d.arguments() || d.arguments() > (isWarp ? 1u : 2u))
    return d.fail(d.name() + " is not known to this machine");
  Instruction &i = d.begin(syncWarp);
  i.flow = isWarp ? Flow::WarpSync : Flow::BlockBarrier;
  for (size_t k = 0; k < d.arguments(); ++k)
    d.addSource(i, d.argument(k), 4);
}

/// A fence has no effect: memory is ordered within a thread; between threads
/// only barriers count.
static void nothing(Warp &warp, const Instruction &i, Mask active) {}
static void decodeFence(Decoder &d) {
  d.takeOne({"sc", "acq_rel"});
  d.takeOne({"cta", "gl", "gpu", "sys"});
  d.begin(nothing);
}

void addFlowDecoders(DecodeTable &table) {
  table.others["bra"] = decodeBranch;
  table.others["brx"] = decodeIndexedBranch;
  table.others["ret"] = decodeEnd<Flow::Exit>;
  table.others["exit"] = decodeEnd<Flow::Exit>;
  table.others["trap"] = decodeEnd<Flow::Trap>;
  table.others["bar"] = decodeBarrier;
  table.others["barrier"] = decodeBarrier;
  table.others["membar"] = decodeFence;
  table.others["fence"] = decodeFence;
}

} // namespace weft::ptx
