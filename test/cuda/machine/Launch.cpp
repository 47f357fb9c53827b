//===- Launch.cpp - runs a kernel -----------------------------------------===//

#include "weft/test/cuda/machine/Block.h"

#include <algorithm>

namespace weft::ptx {

bool Findings::isNew(const std::string &kernel, uint32_t line,
                     std::string_view kind) {
  std::string key = kernel + " " + std::to_string(line) + " ";
  return known.insert(key.append(kind)).second;
}

/// Steele, Lea and Flood's splitmix64.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}
template <class T> static void shuffle(std::vector<T> &all, uint64_t &state) {
  for (size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[nextRandom(state) % i]);
}

static std::string limit(const char *what, uint64_t value, uint64_t most) {
  return std::string(what) + " " + std::to_string(value) + " > " +
         std::to_string(most);
}

std::string checkLaunch(const Launch &launch) {
  const Kernel &kernel = *launch.kernel;
  std::string start = "kernel '" + kernel.name + "': ";
  const uint32_t block[3] = {launch.block.x, launch.block.y, launch.block.z};
  if (!launch.grid.count() || !launch.block.count())
    return start + "a grid or block of no threads";
  if (launch.block.count() > 1024)
    return start + limit("threads of a block", launch.block.count(), 1024);
  if (launch.grid.y > 65535 || launch.grid.z > 65535)
    return start + limit("blocks in y or z",
                         std::max(launch.grid.y, launch.grid.z), 65535);
  if (launch.grid.x > 0x7FFFFFFF)
    return start + limit("blocks in x", launch.grid.x, 0x7FFFFFFF);
  uint64_t most = 1;
  for (unsigned i = 0; i < 3; ++i) {
    most *= kernel.maxThreads[i];
    if (kernel.requiredThreads[0] && kernel.requiredThreads[i] != block[i])
      return start + "block of " + std::to_string(block[i]) +
             " threads in dimension " + std::to_string(i) + " != .reqntid " +
             std::to_string(kernel.requiredThreads[i]);
  }
  if (kernel.maxThreads[0] && launch.block.count() > most)
    return start + limit("threads of a block", launch.block.count(), most) +
           " of .maxntid";
  if (launch.parameters.size() != kernel.parameterBytes)
    return start + std::to_string(launch.parameters.size()) +
           " bytes of parameters != " + std::to_string(kernel.parameterBytes);
  return "";
}

Block::Block(const Launch &launch, Memory &memory, Findings &findings,
             uint32_t firstNumber)
    : memory(memory), findings(findings), firstNumber(firstNumber),
      shared(launch.kernel->dynamicShared() + launch.dynamicShared),
      launch(launch), cells(shared.size() / cellBytes() + 1),
      random(launch.seed) {
  for (uint64_t first = 0; first < launch.block.count(); first += kLanes)
    order.push_back(
        warps.emplace_back(std::make_unique<Warp>(*this, launch)).get());
}
Block::~Block() = default;

/// Gives each byte of shared memory a cell of its own.
void Block::divideCells() {
  std::vector<SharedCell> bytes(cells.size() * cellBytes());
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = cells[i / cellBytes()];
  cells = std::move(bytes);
  cellBits = 0;
}

bool Block::run(uint64_t index) {
  position = {uint32_t(index % launch.grid.x),
              uint32_t(index / launch.grid.x % launch.grid.y),
              uint32_t(index / launch.grid.x / launch.grid.y)};
  number = firstNumber + uint32_t(index);
  std::fill(shared.begin(), shared.end(), 0xCD);
  std::fill(cells.begin(), cells.end(), SharedCell());
  barriers = 1;
  for (size_t i = 0; i < warps.size(); ++i)
    warps[i]->start(unsigned(i), unsigned(launch.block.count()));
  do {
    if (launch.seed)
      shuffle(order, random);
    for (Warp *warp : order)
      if (warp->state() == Warp::Running && warp->run() == Warp::Stopped)
        return false;
  } while (passBarriers());
  for (const auto &warp : warps)
    instructions += warp->steps();
  return fault == Fault::None;
}

/// Lets warps pass a barrier once all of them are at the same one.
bool Block::passBarriers() {
  Warp *waiting = nullptr, *done = nullptr;
  for (const auto &warp : warps) {
    if (warp->state() == Warp::Done) {
      done = warp.get();
      continue;
    }
    if (waiting && waiting->barrier() != warp->barrier()) {
      warp->stopAtBarrier(
          "waits at barrier " + std::to_string(warp->barrier()) +
          " while warp " + std::to_string(waiting->index()) +
          " waits at barrier " + std::to_string(waiting->barrier()));
      return false;
    }
    waiting = warp.get();
  }
  if (!waiting)
    return false;
  if (done) {
    waiting->stopAtBarrier("waits at a barrier while warp " +
                           std::to_string(done->index()) + " has exited");
    return false;
  }
  ++barriers;
  for (const auto &warp : warps)
    warp->passBarrier();
  return true;
}

Outcome run(const Launch &launch, Memory &memory, Findings &findings) {
  Outcome outcome;
  if (std::string error = checkLaunch(launch); !error.empty()) {
    findings.texts.push_back(error);
    outcome.fault = Fault::Launch;
    return outcome;
  }
  uint64_t count = launch.grid.count(), random = launch.seed;
  Block block(launch, memory, findings, memory.numberBlocks(count));
  std::vector<uint32_t> order;
  if (launch.seed) {
    for (uint64_t i = 0; i < count; ++i)
      order.push_back(uint32_t(i));
    shuffle(order, random);
  }
  for (uint64_t i = 0; i < count; ++i)
    if (!block.run(launch.seed ? order[i] : i))
      break;
  outcome.fault = block.fault;
  outcome.instructions = block.instructions;
  outcome.footprint = memory.collect(block.firstNumber);
  return outcome;
}

} // namespace weft::ptx
