//===- Weight.cpp - the options of weights --------------------------------===//

#include "weft/compiler/frontends/keras/layers/Weight.h"

using namespace weft::keras;

void weft::keras::initializerOptions(Options &o, NamedWeights weights) {
  for (const NamedWeight &each : weights)
    o.object((std::string(each.name) + "_initializer").c_str(),
             each.weight.initializer, initializerTable());
}

void weft::keras::regularizerOptions(Options &o, NamedWeights weights) {
  for (const NamedWeight &each : weights)
    o.object((std::string(each.name) + "_regularizer").c_str(),
             each.weight.regularizer, regularizerTable());
}

void weft::keras::constraintOptions(Options &o, NamedWeights weights) {
  for (const NamedWeight &each : weights)
    o.object((std::string(each.name) + "_constraint").c_str(),
             each.weight.constraint, constraintTable());
}

void weft::keras::weightOptions(Options &o, NamedWeights weights,
                                RegularizerPtr *activity) {
  initializerOptions(o, weights);
  regularizerOptions(o, weights);
  if (activity)
    o.object("activity_regularizer", *activity, regularizerTable());
  constraintOptions(o, weights);
}
