//===- FileReaders.h - every reader of a foreign file -----------*- C++ -*-===//
//
//   for (const FileReader &reader : fileReaders())
//     reader.read(mutate(reader.samples[0], reader.isText, random));
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_FILEREADERS_H
#define WEFT_TEST_FUZZ_FILEREADERS_H

#include <functional>
#include <string>
#include <vector>

namespace weft::test {

struct FileReader {
  std::string name;
  bool isText;
  std::vector<std::string> samples; ///< the bytes of valid files
  /// Reads a file; returns whether it was accepted.
  std::function<bool(const std::string &)> read;
};

/// The readers: model, layers (models that are imported, too), distribution,
/// schedule (of a pipeline), npy, npz, keras, keras-h5, hdf5, npz-rows and hdf5-rows (read a row at a time), csv,
/// images, safetensors, weights-json, plan, weft, command (arrays named on
/// command lines), stablehlo (text), stage (Weft's text), calls (between
/// functions of StableHLO) and artifact.
std::vector<FileReader> fileReaders();

/// Reads a plan with a valid trailer, so that verifier and checks are fuzzed.
/// Kernels are not altered: a forged one may run any code.
bool readPlan(const std::string &bytes);
bool readProgram(const std::string &bytes);
/// Reads text or a portable artifact, converts it to weft, plans and explains
/// it.
bool readStablehlo(const std::string &text);
bool readArtifact(const std::string &bytes);
/// Reads bytes as functions that call each other, or themselves: inlined, a few
/// bytes may become any number of ops.
bool readCalls(const std::string &bytes);
/// Reads Weft's own text at a stage, and goes on to a plan. In front of the text
/// is the number of the stage; samples have donated arguments.
bool readStage(const std::string &bytes);
std::vector<std::string> stageTexts();
/// Samples: plans with each kind of collective and kernel, and files with them.
std::vector<std::string> samplePlans();
std::vector<std::string> samplePrograms();

/// The memory that a reader may allocate for one file.
inline constexpr uint64_t readerLimit = 64 << 20;

} // namespace weft::test

#endif // WEFT_TEST_FUZZ_FILEREADERS_H
