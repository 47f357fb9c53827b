//===- PtxTest.h - runs PTX on values, for tests ----------------*- C++ -*-===//
//
//   Bench bench;
//   uint64_t x = bench.array("x", {1, 2, 3});            // floats, 32 bits each
//   bench.run(text, "kernel", {x, y}, {.block = {32}});
//   CHECK(bench.texts() == "");                           // no finding
//   bench.read<float>("y")
//
//   evaluate("add.s32", {32, 32, 32}, {{1, 2}, {3, 4}})   // 4, 6
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_PTXTEST_H
#define WEFT_TEST_CUDA_PTXTEST_H

#include "catch2/catch.hpp"
#include "weft/test/cuda/machine/Launch.h"

#include <bit>
#include <cstring>

namespace weft::ptx {

struct Shape {
  Dim3 grid = {}, block = {32, 1, 1};
  uint32_t dynamicShared = 0;
  uint64_t seed = 0, budget = 1 << 20;
};

/// Memory, and the findings of a launch.
class Bench {
public:
  Memory memory;
  Findings findings;
  Outcome outcome;

  template <class T>
  uint64_t array(const std::string &name, const std::vector<T> &values,
                 bool isWritten = true) {
    std::vector<uint8_t> &bytes = arrays[name];
    bytes.resize(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    Allocation allocation{name, next, bytes.size(), bytes.data(), false,
                          {},   {}};
    allocation.written.assign(bytes.size(), isWritten);
    memory.add(std::move(allocation));
    addresses[name] = next;
    next += (bytes.size() + 0x1FFF) / 0x1000 * 0x1000;
    return addresses[name];
  }
  uint64_t at(const std::string &name) const { return addresses.at(name); }

  template <class T> std::vector<T> read(const std::string &name) const {
    const std::vector<uint8_t> &bytes = arrays.at(name);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  /// Runs a kernel; parameters have 64 bits each.
  void run(const std::string &text, const std::string &kernel,
           const std::vector<uint64_t> &parameters, const Shape &shape = {}) {
    module = {};
    std::string error = parseModule(text, module);
    INFO(error);
    REQUIRE(error.empty());
    Launch launch{&module,     module.find(kernel), shape.grid,
                  shape.block, shape.dynamicShared, {},
                  {},          shape.seed,          shape.budget};
    REQUIRE(launch.kernel);
    launch.parameters.resize(parameters.size() * 8);
    std::memcpy(launch.parameters.data(), parameters.data(),
                launch.parameters.size());
    for (const Data &data : module.data)
      launch.dataAddresses.push_back(array(data.name, data.initial));
    outcome = ptx::run(launch, memory, findings);
  }

  std::string texts() const {
    std::string all;
    for (const std::string &text : findings.texts)
      all += text + "\n";
    return all;
  }

private:
  Module module;
  std::map<std::string, std::vector<uint8_t>> arrays;
  std::map<std::string, uint64_t> addresses;
  uint64_t next = 0x700000000000;
};

/// The name of a register: "%r1" for 32 bits, "%p1" for 1.
inline std::string registerName(unsigned bits, unsigned i) {
  const char *prefix = bits == 1    ? "%p"
                       : bits == 16 ? "%h"
                       : bits == 32 ? "%r"
                                    : "%d";
  return prefix + std::to_string(i);
}

/// A module with one kernel `k`, which has this body, parameters k0, k1, ... of
/// 64 bits, and 30 registers of each width.
inline std::string kernelOf(const std::string &body,
                            const std::string &globals = "",
                            unsigned parameters = 8) {
  std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n" +
                     globals + "\n.visible .entry k(";
  for (unsigned i = 0; i < parameters; ++i)
    text += (i ? ", .param .b64 k" : ".param .b64 k") + std::to_string(i);
  return text +
         ")\n{\n.reg .pred %p<30>;\n.reg .b16 %h<30>;\n"
         ".reg .b32 %r<30>;\n.reg .b64 %d<30>;\n" +
         body + "\nret;\n}\n";
}

/// The results of an instruction for each row of its operands. widths: bits of
/// the target, then of the sources; 1 is a predicate. %s0 stands for a source
/// if `form` has the operands: "%t, %s1, 7".
inline std::vector<uint64_t>
evaluate(const std::string &op, const std::vector<unsigned> &widths,
         const std::vector<std::vector<uint64_t>> &columns,
         std::string form = "") {
  size_t rows = columns[0].size();
  std::string body = "mov.u32 %r20, %ctaid.x; mov.u32 %r21, %tid.x;\n"
                     "mad.lo.s32 %r22, %r20, 32, %r21;\n"
                     "mul.wide.u32 %d20, %r22, 8;\n";
  if (form.empty())
    form = "%t";
  bool isListed = form != "%t";
  auto replace = [&](const std::string &what, const std::string &by) {
    for (size_t at; (at = form.find(what)) != std::string::npos;)
      form.replace(at, what.size(), by);
  };
  Bench bench;
  std::vector<uint64_t> parameters;
  for (size_t k = 0; k < columns.size(); ++k) {
    unsigned bits = widths[k + 1];
    std::string name = registerName(bits, unsigned(k) + 1);
    body += "ld.param.b64 %d21, [k" + std::to_string(k) +
            "];\nadd.s64 %d21, %d21, %d20;\n";
    if (bits == 1)
      body +=
          "ld.global.b32 %r23, [%d21];\nsetp.ne.b32 " + name + ", %r23, 0;\n";
    else
      body += "ld.global.b" + std::to_string(bits) + " " + name + ", [%d21];\n";
    isListed ? replace("%s" + std::to_string(k), name)
             : void(form += ", " + name);
    std::vector<uint64_t> column = columns[k];
    column.resize((rows + 31) / 32 * 32);
    parameters.push_back(bench.array("s" + std::to_string(k), column));
  }
  replace("%t", registerName(widths[0], 0));
  body += op + " " + form +
          ";\nld.param.b64 %d21, [k7];\n"
          "add.s64 %d21, %d21, %d20;\n";
  if (widths[0] == 1)
    body += "selp.b32 %r0, 1, 0, %p0;\nst.global.b32 [%d21], %r0;\n";
  else
    body += "st.global.b" + std::to_string(widths[0]) + " [%d21], " +
            registerName(widths[0], 0) + ";\n";
  parameters.resize(7);
  parameters.push_back(
      bench.array("t", std::vector<uint64_t>((rows + 31) / 32 * 32)));
  bench.run(kernelOf(body), "k", parameters,
            {{uint32_t((rows + 31) / 32), 1, 1}});
  INFO(op);
  CHECK(bench.texts() == "");
  std::vector<uint64_t> result = bench.read<uint64_t>("t");
  result.resize(rows);
  return result;
}

/// All pairs of values, as two columns.
inline std::vector<std::vector<uint64_t>>
pairs(const std::vector<uint64_t> &values) {
  std::vector<std::vector<uint64_t>> columns(2);
  for (uint64_t a : values)
    for (uint64_t b : values) {
      columns[0].push_back(a);
      columns[1].push_back(b);
    }
  return columns;
}

inline uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits == 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_PTXTEST_H
