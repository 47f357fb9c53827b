//===- ProgramGenerator.h - one random program, step by step ----*- C++ -*-===//
//
// A step picks existing values and emits one construct on them:
//
//   %0 = weft.roll %x0 by [2] : tensor<5xf32>
//
// Each kind of construct is a method and a Room: a row in a table
// (ProgramGenerator.cpp) with the weight of the construct and the programs that
// may use it. A method without suitable values emits nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_PROGRAMGENERATOR_H
#define WEFT_TEST_FUZZ_PROGRAMGENERATOR_H

#include "weft/test/fuzz/RandomProgram.h"
#include "weft/test/fuzz/RandomValue.h"

#include <functional>
#include <optional>
#include <random>
#include <utility>

namespace weft {

class ProgramGenerator {
public:
  ProgramGenerator(uint64_t seed, const ProgramOptions &options)
      : random(seed), options(options) {}
  std::string run();
  /// The construct that may follow a kernel's first value.
  using Follower = void (ProgramGenerator::*)();
  static std::vector<Follower> followers();

private:
  friend unsigned numConstructs();
  struct Room;
  static std::vector<Room> rooms();
  void take(const Room &room);
  /// A bound of the derivative of a result by an operand. A result without
  /// slopes is not on the tape.
  struct Slope {
    const RandomValue &operand;
    double by = 1;
  };
  using Slopes = std::vector<Slope>;
  using Test = std::function<bool(const RandomValue &)>;

  int64_t below(int64_t n) { return static_cast<int64_t>(random() % n); }
  bool oneIn(int64_t n) { return below(n) == 0; }
  /// Picks a value, more often a late one; nothing if none passes the test.
  std::optional<RandomValue> pick(const Test &test = nullptr);
  /// Picks a value of the same type: another, or x itself.
  RandomValue partner(const RandomValue &x);
  int64_t dimOf(const RandomValue &x) {
    return below(static_cast<int64_t>(x.shape.size()));
  }
  Shape randomShape();
  Shape largeShape();
  int64_t hugeSize();
  const ElementKind &randomElement();
  std::string fresh(const char *stem) {
    return "%" + std::string(stem) + std::to_string(count++);
  }
  void line(const std::string &text) { body += "  " + text + "\n"; }

  /// Whether sums of x's elements may be generated.
  bool canSum(const RandomValue &x) const {
    return x.isNumber() &&
           (!x.isFloat() || x.integral || (options.reals && x.isFinite()));
  }
  /// Whether x may be partial: summands lose the signs of zeros.
  bool mayBePartial(const RandomValue &x) const {
    return !x.special && x.isFinite() && (!x.isNumber() || canSum(x)) &&
           !options.reals;
  }
  /// Whether a function with jumps may be applied to x.
  static bool canJump(const RandomValue &x) { return x.depth == 0; }
  /// Whether a continuous function whose derivative jumps may be applied to x.
  bool canBend(const RandomValue &x) const {
    return x.isNumber() && (!inLoss || canJump(x));
  }
  /// The number of roundings that machine code may do differently from the
  /// interpreter.
  double rounding(double n) const { return options.compiled ? n : 0; }
  /// A value like x (type, bound, depth, ...).
  RandomValue like(const RandomValue &x) const;
  RandomValue like(const RandomValue &x, Shape shape) const;
  /// A value that has some elements of x, with the signs of zeros.
  RandomValue moved(const RandomValue &x, Shape shape) const;
  /// A sum of `terms` values like x.
  RandomValue sumLike(const RandomValue &x, Shape shape, double terms) const;
  /// The value x converted to a wider element type for a sum, or unchanged;
  /// always unchanged in a loss, as its gradient would be rounded.
  RandomValue widened(const RandomValue &x);
  /// Combines the bounds of an operand (depth, units) into those of a result.
  static void join(RandomValue &into, const RandomValue &other);
  /// Whether the value would be too large to stay exact, or to be run.
  bool isTooLarge(const RandomValue &x) const;
  /// Adds `%n = text` and its value; if too large, adds nothing and returns
  /// false.
  bool emit(const std::string &text, RandomValue result,
            const Slopes &slopes = {});
  /// Adds a value that a line has defined already.
  void define(const std::string &name, RandomValue result,
              const Slopes &slopes = {});

  // RandomMeshes.cpp
  std::string drawMesh();
  /// Draws a layout; with `summed`, axes that split no dimension may be
  /// partial.
  std::vector<std::string> drawDigits(const std::string &name, int64_t size);
  std::string drawLayout(size_t rank, const RandomValue *summed = nullptr);
  std::string drawPart(std::vector<std::pair<std::string, int64_t>> &order);
  std::string drawPartial(const std::vector<std::string> &digits,
                          const RandomValue &summed);
  std::string drawAnnotationOptions(size_t rank, bool annotated);
  struct Argument {
    RandomValue value;
    std::string attributes; ///< each after a comma
  };
  void drawArguments();
  void addArgument(const std::string &name, RandomValue value, const char *draw,
                   bool partialToo = true);
  void donate(const RandomValue &result, size_t index);
  std::string signature();

  // RandomElementwise.cpp
  void unary();
  void jumpingUnary();
  void function();
  void binary();
  void fractionalBinary();
  void integerBinary();
  void bits();
  void compare();
  void zeroSigns();
  void select();
  void clamp();
  void convert();
  void bitcast();
  void precision();
  RandomValue positive(const RandomValue &x);

  // RandomShapes.cpp
  void constrain();
  void barrier();
  void broadcast();
  void transpose();
  void reshape();
  void slice();
  void pad();
  void concatenate();
  void source();
  void randomBits();
  // RandomReductions.cpp
  void reduce();
  void reduceBits();
  void dot();
  void largeSum();
  // RandomMoves.cpp
  void reverse();
  void roll();
  void move(const RandomValue &x);
  void dynamicSlice();
  void dynamicUpdateSlice();
  /// A data-dependent integer, often out of range: its name and type.
  std::pair<std::string, std::string> randomStart();

  // RandomChains.cpp
  void movedChain();
  RandomValue rearranged(const RandomValue &x);
  RandomValue interleaved(const RandomValue &x);

  // RandomIndexing.cpp
  void gather();
  std::optional<RandomValue> gatherRows(const RandomValue &x,
                                        const RandomValue &ids);
  void scatter();
  void oneHot();
  void cumulative();
  /// A value as i32, in and out of any range.
  std::optional<RandomValue> randomIndices();
  // RandomBlocks.cpp
  struct RandomBlockNumbers;
  RandomBlockNumbers drawBlockNumbers(const RandomValue &x);
  std::string drawIndexVectors(const Shape &shape);
  void gatherBlocks();
  void scatterBlocks();
  // RandomOrders.cpp
  void argument();
  void topK();
  void sort();
  // RandomFolds.cpp
  void foldOne();
  void foldPair();
  std::vector<int64_t> drawFolded(const RandomValue &x, Shape &kept);
  std::string scalarConstant(const char *stem, const RandomValue &x,
                             const std::string &number);
  // RandomWindows.cpp
  void reduceWindow();
  void selectAndScatter();
  void convolution();
  RandomValue drawKernel(const RandomValue &x, const Shape &shape);

  // RandomMatrices.cpp
  void triangularSolve();
  void cholesky();
  /// The name of square matrices of -1, 0 and 1 for the batch of x, which is
  /// contracted over one of its last two dimensions.
  std::string randomMatrices(const RandomValue &x, int64_t contract);

  // RandomFunctions.cpp
  void call();
  void gradient();
  /// A private function; `arguments` are the operands inside of its body.
  struct Function {
    std::string name;
    std::vector<RandomValue> operands, arguments, results;
  };
  void begin(Function &function, std::vector<RandomValue> operands);
  /// Begins a body: one or two operands and some steps on them.
  void beginBody(Function &function);
  void end(Function &function, std::vector<RandomValue> results);
  void callAgain(const Function &function);
  void callOnce(const Function &function,
                const std::vector<RandomValue> &operands);
  std::optional<RandomValue> drawLoss(const Function &function);
  /// The majorants of the gradients of `of` by all values, indexed by id.
  std::vector<double> adjoints(const RandomValue &of) const;
  void steps(unsigned n);

  // RandomComplex.cpp
  struct RandomComplex;
  void complexNumbers();
  std::string complexLine(const std::string &text);
  RandomComplex complexFrom(const RandomValue &re, const RandomValue &im);
  void moveComplex(RandomComplex &z);
  void addComplex(RandomComplex &z);
  void combineComplex(RandomComplex &z, const RandomComplex &w);
  void transform(RandomComplex &z);

  // RandomLoops.cpp
  void changingLoop();
  void accumulatingLoop();
  std::string roundOf(const Function &function, const RandomValue &next,
                      const std::string &inner);
  void whileLoop(const std::string &head, int64_t times,
                 const Function &function, const std::string &round,
                 const std::string &next);
  // RandomFlow.cpp
  void loop();
  void branch();
  /// Draws a function `terms` of whose first results can be summed.
  std::optional<Function> drawSummand(double terms);

  // RandomFollowers.cpp
  void followNothing() {}
  void followTwice();
  void followNarrowed();
  void followReduced();
  void followSeveral();
  void followNormalized();

  // RandomManual.cpp
  class BlockProgram;
  void manual();

  std::mt19937_64 random;
  ProgramOptions options;
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<Argument> arguments;
  std::vector<RandomValue> values;
  std::vector<RandomValue> lastValues; ///< returned, and not used by steps
  std::vector<TapeEdge> tape;
  std::string body, functions;
  /// The values and the text outside of a function, while its body is
  /// generated.
  std::vector<RandomValue> outerValues;
  std::string outerBody;
  unsigned count = 0, ids = 0, numFunctions = 0;
  /// The state of a loss: `halvings` counts the ops that may halve a gradient,
  /// `sharings` those that share one among elements.
  bool inLoss = false, inCallee = false;
  bool emptiesToo = false; ///< whether this step may be given empty values
  std::optional<size_t> resultsFrom; ///< the first value that is returned
  bool hasParts = false; ///< whether layouts may be on parts of the mesh
  unsigned halvings = 0, sharings = 0;
};

} // namespace weft

#endif // WEFT_TEST_FUZZ_PROGRAMGENERATOR_H
