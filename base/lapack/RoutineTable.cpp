#include "weft/base/lapack/Adapters.h"

#include <algorithm>

namespace weft::lapack {

// Letters: m and n rows and columns; k the smaller of both; p = n - 1; r, s, t,
// u, v as the row says.

static int64_t at(const Sizes &sizes, char letter) {
  return sizes[size_t(letter - 'a')];
}

/// Checks k and p, which follow from other sizes.
static std::string checkSizes(const Sizes &sizes, std::span<const int64_t>) {
  int64_t m = at(sizes, 'm'), n = at(sizes, 'n'), k = at(sizes, 'k'),
          p = at(sizes, 'p');
  if (k >= 0 && k != std::min(m, n))
    return "has vectors of " + std::to_string(k) + ", expected " +
           std::to_string(std::min(m, n)) + " for matrices of " +
           std::to_string(m) + " x " + std::to_string(n);
  if (p >= 0 && p != std::max<int64_t>(n - 1, 0))
    return "has vectors of " + std::to_string(p) + ", expected " +
           std::to_string(std::max<int64_t>(n - 1, 0)) + " for matrices of " +
           std::to_string(n) + " rows";
  return "";
}

static std::string checkSolve(const Sizes &sizes,
                              std::span<const int64_t> options) {
  int64_t other = at(sizes, options[0] == 'L' ? 'm' : 'n');
  if (at(sizes, 's') == other)
    return "";
  return "has triangles of " + std::to_string(at(sizes, 's')) +
         " rows, expected " + std::to_string(other) + " by the other matrices";
}

static std::string checkProduct(const Sizes &sizes, std::span<const int64_t>) {
  int64_t m = at(sizes, 'm'), n = at(sizes, 'n'), t = at(sizes, 't');
  if (t <= n && n <= m)
    return "";
  return "makes matrices of " + std::to_string(m) + " x " + std::to_string(n) +
         " of " + std::to_string(t) +
         " reflections; there are at most as many as columns, and no more "
         "columns than rows";
}

static std::string checkMultiply(const Sizes &sizes,
                                 std::span<const int64_t> options) {
  int64_t rows = at(sizes, options[0] ? 'm' : 'n');
  if (at(sizes, 'r') == rows && at(sizes, 't') <= rows)
    return "";
  return "has " + std::to_string(at(sizes, 't')) + " reflections of " +
         std::to_string(at(sizes, 'r')) + " rows for a side of " +
         std::to_string(rows);
}

/// Checks the vectors of a singular value decomposition: `u` columns on the
/// left, `v` rows on the right.
static std::string checkVectors(const Sizes &sizes,
                                std::span<const int64_t> options) {
  if (std::string what = checkSizes(sizes, options); !what.empty())
    return what;
  bool isWhole = options[0] == 'A';
  int64_t u = at(sizes, isWhole ? 'm' : 'k'),
          v = at(sizes, isWhole ? 'n' : 'k');
  if (options[0] == 'N' || (at(sizes, 'u') == u && at(sizes, 'v') == v))
    return "";
  return "has " + std::to_string(at(sizes, 'u')) + " and " +
         std::to_string(at(sizes, 'v')) + " vectors, expected " +
         std::to_string(u) + " and " + std::to_string(v);
}

static std::string checkRange(const Sizes &sizes,
                              std::span<const int64_t> options) {
  int64_t n = at(sizes, 'n'), low = options[0], high = options[1];
  if (std::string what = checkSizes(sizes, options); !what.empty())
    return what;
  bool isEmpty = n == 0 && low == 1 && high == 0;
  if (isEmpty || (1 <= low && low <= high && high <= n))
    return "";
  return "has a range from " + std::to_string(low) + " to " +
         std::to_string(high) + ", which is none from 1 to " +
         std::to_string(n);
}

static std::string checkSign(const Sizes &, std::span<const int64_t> options) {
  if (options[2] == 1 || options[2] == -1)
    return "";
  return "has the sign " + std::to_string(options[2]) + ", expected 1 or -1";
}

/// The right-hand sides of a triangular system.
static char systemsOf(std::span<const int64_t> options) {
  return options[0] == 'L' ? 'n' : 'm';
}

// Arrays that several routines have, and their option.
static std::vector<ArrayForm> general() { return {{Part::Same, "mn"}}; }
static std::vector<ArrayForm> square() { return {{Part::Same, "nn"}}; }
static std::vector<ArrayForm> decomposed() {
  return {{Part::Same, "mn", 0},
          {Part::Real, "k"},
          {Part::Same, "mu"},
          {Part::Same, "vn"},
          {Part::Int32, ""}};
}
static OptionForm triangle() { return {"uplo", "LU"}; }

/// Linear systems and the triangular factors that solve them.
static std::vector<Routine> systemRoutines() {
  using enum Part;
  return {
      {.name = "getrf",
       .complexName = "getrf",
       .operands = general(),
       .results = {{Same, "mn", 0}, {Int32, "k"}, {Int32, ""}},
       .cost = 1.0 / 2,
       .check = checkSizes,
       .adapters = kGetrf},
      {.name = "potrf",
       .complexName = "potrf",
       .operands = square(),
       .results = {{Same, "nn", 0}, {Int32, ""}},
       .options = {triangle()},
       .takesRows = true,
       .cost = 1.0 / 6,
       .check = checkSizes,
       .adapters = kPotrf},
      {.name = "trsm",
       .complexName = "trsm",
       .operands = {{Same, "ss"}, {Same, "mn"}},
       .results = {{Same, "mn", 1}},
       .options =
           {{"side", "LR"}, triangle(), {"trans_x", "NTC"}, {"diag", "NU"}},
       .takesRows = true,
       .cost = 1.0 / 2,
       .independent = systemsOf,
       .check = checkSolve,
       .adapters = kTrsm},
      {.name = "gtsv",
       .complexName = "gtsv",
       .operands = {{Same, "n"}, {Same, "n"}, {Same, "n"}, {Same, "nr"}},
       .results = {{Same, "n", 0},
                   {Same, "n", 1},
                   {Same, "n", 2},
                   {Same, "nr", 3},
                   {Int32, ""}},
       .check = checkSizes,
       .adapters = kGtsv},
      {.name = "trsyl",
       .complexName = "trsyl",
       .operands = {{Same, "mm"}, {Same, "nn"}, {Same, "mn"}},
       .results = {{Same, "mn", 2}, {Real, ""}, {Int32, ""}},
       .options = {{"trans_a", "NTC"}, {"trans_b", "NTC"}, {"sign", ""}},
       .cost = 2,
       .check = checkSign,
       .adapters = kTrsyl},
  };
}

/// Orthogonal factors and their products.
static std::vector<Routine> orthogonalRoutines() {
  using enum Part;
  std::string_view flags("\0\1", 2);
  return {
      {.name = "geqrf",
       .complexName = "geqrf",
       .operands = general(),
       .results = {{Same, "mn", 0}, {Same, "k"}},
       .asksForMemory = true,
       .check = checkSizes,
       .adapters = kGeqrf},
      {.name = "geqp3",
       .complexName = "geqp3",
       .operands = {{Same, "mn"}, {Int32, "n"}},
       .results = {{Same, "mn", 0}, {Int32, "n", 1}, {Same, "k"}},
       .asksForMemory = true,
       .check = checkSizes,
       .adapters = kGeqp3},
      {.name = "orgqr",
       .complexName = "ungqr",
       .operands = {{Same, "mn"}, {Same, "t"}},
       .results = {{Same, "mn", 0}},
       .asksForMemory = true,
       .check = checkProduct,
       .adapters = kOrgqr},
      {.name = "ormqr",
       .complexName = "unmqr",
       .operands = {{Same, "rt"}, {Same, "t"}, {Same, "mn"}},
       .results = {{Same, "mn", 2}},
       .options = {{"left", flags}, {"transpose", flags}},
       .asksForMemory = true,
       .cost = 2,
       .check = checkMultiply,
       .adapters = kOrmqr},
  };
}

/// Spectra and singular values.
static std::vector<Routine> spectrumRoutines() {
  using enum Part;
  return {
      {.name = "syevd",
       .complexName = "heevd",
       .operands = square(),
       .results = {{Same, "nn", 0}, {Real, "n"}, {Int32, ""}},
       .options = {{"mode", "VN"}, triangle()},
       .asksForMemory = true,
       .cost = 4,
       .check = checkSizes,
       .adapters = kSyevd},
      {.name = "gesdd",
       .complexName = "gesdd",
       .operands = general(),
       .results = decomposed(),
       .options = {{"mode", "ASN"}},
       .asksForMemory = true,
       .cost = 10,
       .check = checkVectors,
       .adapters = kGesdd},
      {.name = "gesvd",
       .complexName = "gesvd",
       .operands = general(),
       .results = decomposed(),
       .options = {{"mode", "ASN"}},
       .asksForMemory = true,
       .cost = 10,
       .check = checkVectors,
       .adapters = kGesvd},
      {.name = "geev",
       .complexName = "geev",
       .operands = square(),
       .results = {{Same, "n"},
                   {Same, "n", -1, true},
                   {Complex, "nn"},
                   {Complex, "nn"},
                   {Int32, ""}},
       .options = {{"compute_left", "VN"}, {"compute_right", "VN"}},
       .asksForMemory = true,
       .cost = 12,
       .check = checkSizes,
       .adapters = kGeev},
  };
}

/// Forms that are similar to a matrix.
static std::vector<Routine> formRoutines() {
  using enum Part;
  return {
      {.name = "gees",
       .complexName = "gees",
       .operands = square(),
       .results = {{Same, "nn", 0},
                   {Same, "nn"},
                   {Same, "n"},
                   {Same, "n", -1, true},
                   {Int32, ""},
                   {Int32, ""}},
       .options = {{"mode", "VN"}, {"sort", "N"}},
       .asksForMemory = true,
       .cost = 12,
       .check = checkSizes,
       .adapters = kGees},
      {.name = "gehrd",
       .complexName = "gehrd",
       .operands = square(),
       .results = {{Same, "nn", 0}, {Same, "p"}, {Int32, ""}},
       .options = {{"low", ""}, {"high", ""}},
       .asksForMemory = true,
       .cost = 5.0 / 3,
       .check = checkRange,
       .adapters = kGehrd},
      {.name = "sytrd",
       .complexName = "hetrd",
       .operands = square(),
       .results = {{Same, "nn", 0},
                   {Real, "n"},
                   {Real, "p"},
                   {Same, "p"},
                   {Int32, ""}},
       .options = {triangle()},
       .asksForMemory = true,
       .cost = 2.0 / 3,
       .check = checkSizes,
       .adapters = kSytrd},
  };
}

static std::vector<Routine> makeTable() {
  std::vector<Routine> table;
  for (const std::vector<Routine> &part :
       {systemRoutines(), orthogonalRoutines(), spectrumRoutines(),
        formRoutines()})
    table.insert(table.end(), part.begin(), part.end());
  return table;
}

std::span<const Routine> allRoutines() {
  static const std::vector<Routine> table = makeTable();
  return table;
}

} // namespace weft::lapack
