//===- Pairing.cpp - who sends its value to whom --------------------------===//

#include "weft/dialects/coll/Pairing.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/layout/DeviceGroups.h"

using namespace mlir;
using namespace weft;
using namespace weft::coll;

#include "weft/dialects/coll/CollPairing.cpp.inc"

namespace {

using Pairs = SmallVector<std::pair<int64_t, int64_t>>;

struct ChosenMembers
    : PairingOpInterface::ExternalModel<ChosenMembers, CollectivePermuteOp> {
  Pairs getPairs(Operation *op) const {
    auto permute = cast<CollectivePermuteOp>(op);
    LayoutAttr group = permute.getGroup();
    Pairs pairs;
    Mesh mesh = group.getMesh().getMesh();
    DeviceGroups all = groupsOver(mesh.axes, groupAxes(group));
    for (const DeviceGroup &members : all.groups)
      for (auto [receiver, sender] :
           llvm::zip_equal(members, permute.getSources()))
        if (sender >= 0)
          pairs.push_back({members[sender], receiver});
    return pairs;
  }
};

/// The pairs of a permute, which moves full blocks: a device that already holds
/// the block it receives gets nothing.
struct FullBlocks : PairingOpInterface::ExternalModel<FullBlocks, PermuteOp> {
  Pairs getPairs(Operation *op) const {
    auto permute = cast<PermuteOp>(op);
    const Mesh mesh = permute.getFrom().getMesh().getMesh();
    Layout from = permute.getFrom().getLayout(),
           to = permute.getTo().getLayout();
    SmallVector<Box> held;
    for (int64_t position = 0; position < mesh.size(); ++position)
      held.push_back(own(mesh, from, permute.getShape(), position));
    SmallVector<bool> sends(mesh.size());
    Pairs pairs;
    for (int64_t receiver = 0; receiver < mesh.size(); ++receiver) {
      Box wanted = own(mesh, to, permute.getShape(), receiver);
      int64_t sender = held[receiver] == wanted ? mesh.size() : 0;
      while (sender < mesh.size() && (sends[sender] || held[sender] != wanted))
        ++sender;
      if (sender == mesh.size())
        continue;
      sends[sender] = true;
      pairs.push_back({sender, receiver});
    }
    return pairs;
  }
};

} // namespace

void coll::attachPairings(MLIRContext *context) {
  CollectivePermuteOp::attachInterface<ChosenMembers>(*context);
  PermuteOp::attachInterface<FullBlocks>(*context);
}
