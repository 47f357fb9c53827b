//===- ReshardSimulator.h - executes plans on arrays ------------*- C++ -*-===//
//
// ReshardSimulator executes the steps of a plan on the buffers of all devices.
// Every device has a buffer of its local shape; element e of the tensor has the
// value e + 1, and summand k of a partial tensor has e + 1 + 1000 k. Padding is
// poison, and so are values computed from it. Steps follow the coll dialect:
// all_gather concatenates in group order and truncates, slice takes block k of
// the result's local size, and so on. Devices that are not in a layout's part of
// the mesh have poison.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_RESHARDSIMULATOR_H
#define WEFT_TEST_UNIT_RESHARDSIMULATOR_H

#include "weft/passes/sharding/resharding/Resharding.h"

#include <algorithm>
#include <vector>

namespace weft {

constexpr int64_t poison = int64_t(-1) << 40;

class ReshardSimulator {
public:
  using Shape = std::vector<int64_t>;
  using Buffers = std::vector<std::vector<int64_t>>;

  ReshardSimulator(const Mesh &mesh [[clang::lifetimebound]],
                   llvm::ArrayRef<int64_t> shape)
      : mesh(mesh), shape(shape) {}

  /// Returns the reason why the plan does not lead to the target, or empty.
  std::string run(const Layout &from, const Layout &to,
                  const ReshardPlan &plan) {
    Layout at = normalise(mesh, from);
    Buffers buffers = fill(at);
    for (const ReshardStep &step : plan.steps) {
      if (std::string why = invalidReason(mesh, step.result, shape.size());
          !why.empty())
        return why;
      buffers = apply(step, at, buffers);
      at = step.result;
    }
    Layout target = normalise(mesh, to);
    // Devices that are not in the target's part drop what they have.
    if (includes(at.part, target.part))
      at.part = target.part;
    if (!(at == target))
      return "the plan ends at " + toString(mesh, at);
    return check(from, to, buffers);
  }

private:
  /// Returns the position whose coordinate on the axes is k, and whose other
  /// digits are those of `position`.
  int64_t member(int64_t position, llvm::ArrayRef<SubAxis> axes, int64_t k) {
    for (size_t i = axes.size(); i-- > 0;) {
      const SubAxis &sub = axes[i];
      int64_t stride = mesh.axes[sub.axis].size / sub.skip / sub.size;
      for (unsigned a = sub.axis + 1; a < mesh.axes.size(); ++a)
        stride *= mesh.axes[a].size;
      position +=
          (k % sub.size - coordinate(mesh.axes, position, sub)) * stride;
      k /= sub.size;
    }
    return position;
  }
  static int64_t flat(llvm::ArrayRef<int64_t> index,
                      llvm::ArrayRef<int64_t> extents) {
    int64_t result = 0;
    for (size_t d = 0; d < index.size(); ++d)
      result = result * extents[d] + index[d];
    return result;
  }
  static int64_t count(llvm::ArrayRef<int64_t> extents) {
    int64_t result = 1;
    for (int64_t n : extents)
      result *= n;
    return result;
  }
  template <typename F>
  static void forEach(llvm::ArrayRef<int64_t> extents, F visit) {
    for (int64_t i = 0, e = count(extents); i < e; ++i) {
      Shape index(extents.size());
      int64_t rest = i;
      for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
        index[d] = rest % extents[d];
      visit(index, i);
    }
  }
  static int64_t read(const std::vector<int64_t> &buffer,
                      llvm::ArrayRef<int64_t> index,
                      llvm::ArrayRef<int64_t> extents) {
    for (size_t d = 0; d < index.size(); ++d)
      if (index[d] >= extents[d])
        return poison;
    return buffer[flat(index, extents)];
  }

  Buffers fill(const Layout &layout) {
    Shape local = localShape(layout, shape);
    Buffers buffers(mesh.size(), std::vector<int64_t>(count(local), poison));
    for (int64_t p = 0; p < mesh.size(); ++p) {
      if (!holds(mesh, layout, p))
        continue;
      Box box = own(mesh, layout, shape, p);
      forEach(local, [&](Shape index, int64_t i) {
        bool valid = true;
        for (size_t d = 0; d < index.size(); ++d)
          valid &= (index[d] += box[d].begin) < box[d].end;
        if (valid)
          buffers[p][i] = flat(index, shape) + 1 +
                          1000 * coordinate(mesh, p, layout.partial);
      });
    }
    return buffers;
  }

  Buffers apply(const ReshardStep &step, const Layout &at, const Buffers &in) {
    Shape before = localShape(at, shape),
          after = localShape(step.result, shape);
    Buffers out(mesh.size(), std::vector<int64_t>(count(after), poison));
    int64_t p = shardCount(step.axes);
    for (int64_t d = 0; d < mesh.size(); ++d) {
      int64_t k = coordinate(mesh, d, step.axes);
      forEach(after, [&](Shape index, int64_t i) {
        int64_t source = d;
        switch (step.kind) {
        case ReshardStepKind::MakePartial:
          out[d][i] = k == 0 ? in[d][i] : 0;
          return;
        case ReshardStepKind::Place: {
          int64_t row = index[step.from];
          index[step.from] %= before[step.from];
          bool isOwn = row / before[step.from] == k;
          int64_t element = isOwn ? read(in[d], index, before) : 0;
          out[d][i] = element == poison ? 0 : element;
          return;
        }
        case ReshardStepKind::AllReduce:
        case ReshardStepKind::ReduceScatter:
          if (step.to >= 0)
            index[step.to] += k * after[step.to];
          out[d][i] = 0;
          for (int64_t j = 0; j < p; ++j)
            out[d][i] += read(in[member(d, step.axes, j)], index, before);
          return;
        case ReshardStepKind::Permute:
        case ReshardStepKind::Exchange:
          out[d][i] = fetch(step, at, in, before, d, index);
          return;
        default:
          break;
        }
        // A slice, all-gather or all-to-all reads from a member of the group.
        if (step.to >= 0)
          index[step.to] += k * after[step.to];
        if (step.from >= 0) {
          source = member(d, step.axes, index[step.from] / before[step.from]);
          index[step.from] %= before[step.from];
        }
        out[d][i] = read(in[source], index, before);
      });
    }
    return out;
  }

  /// Returns the element that a permute or exchange brings, which the two
  /// layouts describe: a permute takes a whole shard of one device, an exchange
  /// each element from any holder.
  int64_t fetch(const ReshardStep &step, const Layout &at, const Buffers &in,
                llvm::ArrayRef<int64_t> before, int64_t d, Shape index) {
    Box wanted = own(mesh, step.result, shape, d);
    for (size_t i = 0; i < index.size(); ++i)
      index[i] += wanted[i].begin;
    for (int64_t s = 0; s < mesh.size(); ++s) {
      if (!holds(mesh, at, s) ||
          coordinate(mesh, s, at.partial) != coordinate(mesh, d, at.partial))
        continue;
      Box held = own(mesh, at, shape, s);
      bool has = step.kind == ReshardStepKind::Exchange || held == wanted;
      Shape there = index;
      for (size_t i = 0; i < index.size(); ++i) {
        has &= index[i] >= held[i].begin && index[i] < held[i].end;
        there[i] -= held[i].begin;
      }
      if (has)
        return read(in[s], there, before);
    }
    return poison;
  }

  std::string check(const Layout &from, const Layout &to,
                    const Buffers &buffers) {
    int64_t summands = shardCount(from.partial);
    int64_t groups = shardCount(to.partial);
    Shape local = localShape(to, shape);
    std::string wrong;
    for (int64_t p = 0; p < mesh.size(); ++p) {
      if (!holds(mesh, to, p))
        continue;
      Box box = own(mesh, to, shape, p);
      forEach(local, [&](Shape index, int64_t i) {
        int64_t value = 0;
        for (int64_t k = 0; k < groups; ++k)
          value += buffers[member(p, to.partial, k)][i];
        for (size_t d = 0; d < index.size(); ++d) {
          index[d] += box[d].begin;
          if (index[d] >= box[d].end)
            return;
        }
        int64_t expected = summands * (flat(index, shape) + 1) +
                           1000 * (summands * (summands - 1) / 2);
        if (value != expected && wrong.empty())
          wrong = "device " + std::to_string(p) + " has " +
                  std::to_string(value) + ", expected " +
                  std::to_string(expected);
      });
    }
    return wrong;
  }

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
};

inline std::string simulate(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                            const Layout &from, const Layout &to,
                            const ReshardPlan &plan) {
  return ReshardSimulator(mesh, shape).run(from, to, plan);
}

} // namespace weft

#endif // WEFT_TEST_UNIT_RESHARDSIMULATOR_H
