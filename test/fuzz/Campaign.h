//===- Campaign.h - many programs in several processes ----------*- C++ -*-===//
//
// Programs are checked in child processes, a chunk of seeds each, so that a
// crash or an endless loop is a failure like others, and memory does not
// accumulate.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_CAMPAIGN_H
#define WEFT_TEST_FUZZ_CAMPAIGN_H

#include "weft/test/fuzz/ProgramCheck.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

struct CampaignOptions {
  uint64_t first = 1, count = 100;
  unsigned ops = 8, jobs = 1;
  bool reals = false, planned = false;
  /// Whether programs are compiled only, and for how many targets.
  bool large = false, everywhere = false;
  bool pipelines = false; ///< whether programs are steps in stages
  bool gpu = false;       ///< whether machine code is for GPUs
  /// One of `compiledEvery` programs also runs as machine code; 0: none.
  uint64_t compiledEvery = 20;
};

struct FailedProgram {
  uint64_t seed;
  Verdict verdict;
};

/// A summary of the generated programs.
struct CampaignSummary {
  uint64_t programs = 0, compiled = 0;
  std::map<std::string, uint64_t> ops;    ///< indexed by mnemonic
  std::map<std::string, uint64_t> meshes; ///< indexed by sizes, 2x3
  std::vector<FailedProgram> failures;
};

/// The program of a seed, with its options as an attribute.
std::string programOfSeed(uint64_t seed, const CampaignOptions &options);

CampaignSummary runCampaign(const CampaignOptions &options);

/// Checks a program in a child process. The verdict is Crashed if the child
/// does not end by itself.
Verdict checkInChild(const std::string &text, std::string &reason);

} // namespace weft

#endif // WEFT_TEST_FUZZ_CAMPAIGN_H
