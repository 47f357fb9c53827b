//===- Routine.h - the routines of LAPACK that programs call ----*- C++ -*-===//
//
//   %lu, %pivots, %info = weft.lapack "dgetrf"(%a) : (tensor<8x4x3xf64>)
//       -> (tensor<8x4x3xf64>, tensor<8x3xi32>, tensor<8xi32>)
//
// is a call of the row
//
//   getrf   operands {T mn}   results {T mn, from operand 0} {I k} {I}
//
// Each array is a batch of matrices, vectors or numbers in row-major order. A
// letter is a size of one matrix, here m = 4, n = 3 and k, the smaller of both;
// the batch has 8. Compiler and runtime read this table, and the front end for
// StableHLO takes `custom_call @lapack_dgetrf_ffi` by it, with the options as
// attributes: JAX writes such calls for CPUs. A new routine is a row of
// RoutineTable.cpp and a function that calls it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_LAPACK_ROUTINE_H
#define WEFT_BASE_LAPACK_ROUTINE_H

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::lapack {

/// Elements of a call, by LAPACK's letters.
enum class Element : uint8_t { F32, F64, C64, C128 };
inline constexpr std::string_view kElementLetters = "sdcz";
inline bool isComplex(Element element) { return element >= Element::C64; }

/// What the elements of an array are, given those of the call.
enum class Part : uint8_t {
  Same,    ///< the call's elements
  Real,    ///< their real type
  Complex, ///< their complex type
  Int32,
};

/// An operand or result. `dims` has a letter for each dimension of one matrix.
struct ArrayForm {
  Part part;
  std::string_view dims;
  int from = -1;           ///< result: the operand that the routine overwrites
  bool isRealOnly = false; ///< complex forms of the routine lack it
};

/// An argument that is no array. `values` are the allowed ones, each a
/// character; empty: any integer of 32 bits.
struct OptionForm {
  std::string_view name, values;
};

/// Sizes by letter; -1 for letters without a size.
using Sizes = std::array<int64_t, 26>;

struct Invocation;
using Adapter = void (*)(Invocation &);

struct Routine {
  std::string_view name;        ///< for real elements: orgqr
  std::string_view complexName; ///< for complex elements: ungqr
  std::vector<ArrayForm> operands, results;
  std::vector<OptionForm> options = {};
  /// Whether the routine's function takes matrices in row-major order; others
  /// get copies in column-major order.
  bool takesRows = false;
  /// Whether the routine says how much memory it wants, in a call of its own.
  bool asksForMemory = false;
  /// Multiply-adds for each element of the last matrix and each of the smaller
  /// size of the first, about.
  double cost = 1;
  /// The letter of a size along which the results are computed one by one, or
  /// 0.
  char (*independent)(std::span<const int64_t> options) = nullptr;
  /// What is wrong with the sizes; empty if nothing is.
  std::string (*check)(const Sizes &sizes,
                       std::span<const int64_t> options) = nullptr;
  /// The functions that call the routine, by Element.
  std::array<Adapter, 4> adapters = {};

  std::string_view nameFor(Element element) const {
    return isComplex(element) ? complexName : name;
  }
  /// The results that the routine has for these elements.
  std::vector<ArrayForm> resultsFor(Element element) const;
};

/// All routines.
std::span<const Routine> allRoutines();

} // namespace weft::lapack

#endif // WEFT_BASE_LAPACK_ROUTINE_H
