#include "weft/runtime/devices/cuda/GpuCollectives.h"

#include <algorithm>

namespace weft::runtime {

std::vector<GpuExchange::Side>
GpuCollectives::sidesOf(const std::vector<int64_t> &members,
                        const std::vector<GpuShare> &shares) const {
  std::vector<GpuExchange::Side> out;
  for (size_t m = 0; m < members.size(); ++m) {
    int rank = shares[size_t(members[m])].rank;
    auto found = std::ranges::find(out, rank, &GpuExchange::Side::rank);
    if (found == out.end()) {
      found = out.insert(out.end(), GpuExchange::Side{});
      found->rank = rank;
      if (auto its = sides.find(rank); its != sides.end()) {
        found->isOwn = true;
        found->tables = its->second.tables.get();
        found->builtin = its->second.builtin.get();
      }
    }
    found->members.push_back(int64_t(m));
    found->positions.push_back(members[m]);
  }
  return out;
}

/// The moves with numbers of pointers, of which each member has one for each
/// source.
static std::vector<Move> withPointers(std::span<const Move> moves,
                                      size_t sources) {
  std::vector<Move> out(moves.begin(), moves.end());
  for (Move &move : out) {
    move.source = move.source * int64_t(sources) + move.array;
    move.array = 0;
  }
  return out;
}

Status GpuCollectives::addLaunches(const Collective &collective,
                                   CollectiveTable table,
                                   const std::vector<int64_t> &members,
                                   const std::vector<GpuExchange::Side> &on,
                                   std::vector<Launches> &out) {
  const void *rows = nullptr;
  std::vector<Move> pointed;
  if (const auto *moves = std::get_if<std::span<const Move>>(&table)) {
    rows = moves->data();
    pointed = withPointers(*moves, collective.sources.size());
    table = std::span<const Move>(pointed);
  }
  for (size_t k = 0; k < on.size(); ++k) {
    auto [all, isNew] = known.try_emplace({on[k].rank, rows});
    if (isNew)
      if (Status ok = CollectiveLaunches::make(
              table, collective, int64_t(members.size()), *on[k].tables,
              *on[k].builtin, all->second);
          !ok)
        return ok;
    Launches launches = {on[k].first(),
                         all->second.slice(int64_t(k), int64_t(on.size()))};
    if (launches.calls.isEmpty())
      continue;
    uint64_t sources = on[k].tables->addPointers(members, collective.sources);
    launches.calls.setArrays(
        sources, on[k].tables->addPointers(members, collective.targets));
    out.push_back(std::move(launches));
  }
  return {};
}

Status GpuCollectives::add(const Plan &plan, const Collective &collective,
                           const PreparedCollective &work,
                           const std::vector<GpuShare> &shares) {
  known.clear();
  auto &ofGroups = groups.emplace_back(collective.groups.size());
  auto &exchangesOfGroups = exchanges.emplace_back(collective.groups.size());
  std::vector<CollectiveMethod> methods;
  std::vector<std::vector<GpuExchange::Side>> gpus;
  std::vector<GpuLinks::GpuSet> sets; // those that need a communicator
  for (const std::vector<int64_t> &members : collective.groups) {
    gpus.push_back(sidesOf(members, shares));
    GpuLinks::GpuSet set;
    for (const GpuExchange::Side &side : gpus.back())
      set.push_back(side.rank);
    CollectiveMethod &method = methods.emplace_back(CollectiveMethod::Peer);
    if (set.size() > 1 && links->hasOwn(set))
      if (Status ok = links->choose(plan.mesh, collective, set, method); !ok)
        return ok;
    if (links->needsComm(set, method))
      sets.push_back(std::move(set));
  }
  if (Status ok = links->connect(sets); !ok)
    return ok;
  for (size_t g = 0; g < methods.size(); ++g) {
    auto number = int64_t(g);
    if (std::ranges::none_of(gpus[g], &GpuExchange::Side::isOwn))
      continue; // another process has it
    Status ok = methods[g] == CollectiveMethod::Peer
                    ? addLaunches(collective, work.table(number),
                                  collective.groups[g], gpus[g], ofGroups[g])
                    : GpuExchange::make(
                          plan.mesh, collective, number, work, methods[g],
                          uint32_t(plan.buffers.size()), std::move(gpus[g]),
                          links, exchangesOfGroups[g]);
    if (!ok)
      return ok;
  }
  return {};
}

/// Fills memory with zeros.
static Status fillWithZeros(const GpuMemory &memory) {
  std::unique_ptr<GpuStream> stream;
  if (Status ok = GpuStream::create(memory.gpu(), stream); !ok)
    return ok;
  const Driver &driver = stream->gpu().driver();
  if (Status ok =
          driver.check(driver.cuMemsetD8Async(memory.place(), 0, memory.bytes(),
                                              stream->handle()),
                       "cuMemsetD8Async of the memory of collectives");
      !ok)
    return ok;
  return stream->wait();
}

/// A device's collectives follow each other on its stream, so they share
/// memory. It is zeroed, as the gaps between packed slices are sent, too.
Status GpuCollectives::placeStaging(const Plan &plan,
                                    const std::vector<GpuShare> &shares,
                                    const std::shared_ptr<MemoryMeter> &meter) {
  std::vector<uint64_t> bytes(shares.size());
  for (const auto &ofGroups : exchanges)
    for (const std::unique_ptr<GpuExchange> &exchange : ofGroups)
      if (exchange)
        for (const GpuExchange::Side &side : exchange->all()) {
          uint64_t &most = bytes[size_t(side.first())];
          most = std::max(most, side.staging);
        }
  staging.resize(shares.size());
  for (size_t p = 0; p < shares.size(); ++p) {
    if (!bytes[p] || !shares[p].gpu)
      continue;
    if (Status ok = GpuMemory::allocate(
            shares[p].gpu, shares[p].device, bytes[p],
            "the collectives of \"" + plan.name + "\"", meter, staging[p]);
        !ok)
      return ok;
    if (Status ok = fillWithZeros(*staging[p]); !ok)
      return ok;
  }
  return {};
}

/// "instruction 3 (all_reduce of a gradient) of program \"step\"".
static std::string describeStart(const Plan &plan, uint32_t collective) {
  for (uint32_t n = 0; n < plan.instructions.size(); ++n)
    if (plan.instructions[n].kind == plan::Operation::Start &&
        plan.instructions[n].index == collective)
      return plan.describe(n) + " of program \"" + plan.name + "\"";
  return "program \"" + plan.name + "\"";
}

Status GpuCollectives::prepare(const Plan &plan,
                               const std::vector<GpuShare> &shares,
                               const std::shared_ptr<MemoryMeter> &meter) {
  links = shares.front().links;
  for (const GpuShare &share : shares) {
    if (!share.gpu)
      continue;
    sides.try_emplace(
        share.rank, Side{share.builtin,
                         std::make_unique<GpuTables>(share.gpu, share.device)});
  }
  std::unique_ptr<CollectiveProvider> provider = createInProcessProvider();
  int64_t firstGroup = 0;
  for (size_t n = 0; n < plan.collectives.size(); ++n) {
    const Collective &collective = plan.collectives[n];
    std::unique_ptr<PreparedCollective> work;
    if (Status ok = provider->prepare(plan.mesh, Ownership(), collective,
                                      firstGroup, work);
        !ok)
      return ok;
    firstGroup += int64_t(collective.groups.size());
    sentOnce.push_back(bytesSent(plan.mesh, collective));
    if (Status ok = add(plan, collective, *work, shares); !ok)
      return ok.in(describeStart(plan, uint32_t(n)));
  }
  known.clear();
  if (Status ok = placeStaging(plan, shares, meter); !ok)
    return ok;
  for (auto &[rank, side] : sides)
    if (Status ok = side.tables->place(meter); !ok)
      return ok;
  return {};
}

Status GpuCollectives::bind(GpuTables::Addresses addresses) {
  for (size_t p = 0; p < addresses.size(); ++p) {
    addresses[p].push_back(staging[p] ? staging[p]->place() : 0);
    addresses[p].push_back(0); // the null pointer
  }
  bound = std::move(addresses);
  for (auto &[rank, side] : sides)
    if (Status ok = side.tables->bind(bound); !ok)
      return ok;
  return {};
}

std::vector<std::shared_ptr<const GpuMemory>> GpuCollectives::pointers() const {
  std::vector<std::shared_ptr<const GpuMemory>> out;
  for (const auto &[rank, side] : sides)
    if (auto memory = side.tables->pointers())
      out.push_back(std::move(memory));
  return out;
}

} // namespace weft::runtime
