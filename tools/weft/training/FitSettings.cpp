//===- FitSettings.cpp - what a resumed training must share ---------------===//

#include "weft/tools/weft/training/FitSettings.h"

#include <nlohmann/json.hpp>

using namespace weft;
using namespace weft::tool;
using nlohmann::json;

static json imageSettings(const ImageOptions &images) {
  return {{"interpolation",
           images.interpolation ? json(int(*images.interpolation)) : json()},
          {"crop_to_aspect_ratio", images.cropToAspectRatio},
          {"class_names", images.classNames},
          {"seed", images.seed ? json(*images.seed) : json()}};
}

static json classWeights(const std::map<int64_t, double> &weights) {
  json out = json::object();
  for (const auto &[label, weight] : weights)
    out[std::to_string(label)] = weight;
  return out;
}

std::string weft::tool::fitSettings(const FitFlags &flags,
                                    TrainingSession &session) {
  json out = json::parse(session.source().settings(), nullptr, false);
  if (!out.is_object())
    out = json::object();
  out["class_weight"] = classWeights(flags.data.classWeight);
  out["images"] = imageSettings(flags.data.source.images);
  out["matmul_precision"] =
      flags.model.matmulPrecision.empty() ? "f32" : flags.model.matmulPrecision;
  out["weights"] = session.weightsHash();
  if (const auto &vocabulary = flags.data.source.vocabulary)
    out["vocabulary"] = json::parse(vocabulary->contents(), nullptr, false);
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}
