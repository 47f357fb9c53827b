#include "weft/runtime/collectives/Picking.h"

#include <algorithm>
#include <array>

namespace weft::runtime {

namespace {

class Picking final : public PreparedCollective {
public:
  Picking(const Collective &collective, int64_t dim)
      : sourceBytes(collective.sources[0].bytes),
        targetBytes(collective.targets[0].bytes) {
    const Collective::Array &source = collective.sources[0];
    its = {shardCount(collective.axes),
           1,
           source.shape[size_t(dim)],
           collective.targets[0].shape[size_t(dim)],
           1,
           elementBytes(source.dtype())};
    copyElements = copyOf(its.elementBytes);
    for (int64_t d = 0; d < int64_t(source.shape.size()); ++d)
      (d < dim ? its.outer : its.inner) *=
          d == dim ? 1 : source.shape[size_t(d)];
    constexpr int64_t elementsOfChunk = 16 << 10;
    chunksOfMember = std::clamp<int64_t>(
        its.outer * its.count * its.inner / elementsOfChunk, 1, 64);
  }

  int64_t chunkCount(int64_t) const override {
    return targetBytes == 0 || its.block == 0 ? 0
                                              : its.members * chunksOfMember;
  }
  void run(int64_t, void *const *sources, void *const *targets,
           int64_t chunk) const override {
    (this->*copyElements)(sources, targets, chunk);
  }
  /// All elements of every member, as only the data tells which are picked.
  std::vector<MemberSlice>
  needs(int64_t, const std::function<bool(int64_t)> &isTarget) const override {
    std::vector<MemberSlice> out;
    bool any = false;
    for (int64_t m = 0; m < its.members; ++m)
      any |= isTarget(m);
    for (int64_t m = 0; any && m < its.members; ++m)
      out.push_back({m, 0, BoxCopy::full(sourceBytes)});
    return out;
  }
  CollectiveTable table(int64_t) const override { return its; }

private:
  using Copy = void (Picking::*)(void *const *, void *const *, int64_t) const;
  /// The copy function of a size: with a constant size, a copy is one load and
  /// one store.
  static Copy copyOf(int64_t bytes) {
    switch (bytes) {
    case 1:
      return &Picking::copy<std::array<char, 1>>;
    case 2:
      return &Picking::copy<std::array<char, 2>>;
    case 4:
      return &Picking::copy<std::array<char, 4>>;
    case 8:
      return &Picking::copy<std::array<char, 8>>;
    case 16:
      return &Picking::copy<std::array<char, 16>>;
    default:
      return nullptr;
    }
  }
  template <typename T>
  void copy(void *const *sources, void *const *targets, int64_t chunk) const {
    int64_t member = chunk / chunksOfMember, number = chunk % chunksOfMember;
    int64_t total = its.outer * its.count * its.inner;
    const auto *positions =
        static_cast<const int64_t *>(sources[member * 2 + 1]);
    auto *target = static_cast<T *>(targets[member]);
    if (!target)
      return; // another process fills it
    int64_t last = its.block * its.members - 1;
    for (int64_t i = total * number / chunksOfMember;
         i < total * (number + 1) / chunksOfMember; ++i) {
      int64_t q = std::clamp<int64_t>(positions[i], 0, last);
      int64_t row = i / its.inner / its.count, column = i % its.inner;
      const auto *source = static_cast<const T *>(sources[q / its.block * 2]);
      target[i] =
          source[(row * its.block + q % its.block) * its.inner + column];
    }
  }

  PickTable its;
  int64_t chunksOfMember;
  Copy copyElements;
  uint64_t sourceBytes, targetBytes;
};

} // namespace

std::unique_ptr<PreparedCollective> preparePick(const Collective &collective,
                                                int64_t dim) {
  return std::make_unique<Picking>(collective, dim);
}

} // namespace weft::runtime
