//===- choice-graphs.cpp - graphs of choices as integer programs -----------===//
//
//   choice-graphs COUNT FOLDER
//
// Writes random graphs of up to 60 nodes with up to 8 labels to FOLDER/N.lp, as
// CBC reads them, and prints "N cost bound" of the solver's choice of each; a cost
// of -1 is that of a graph without a choice. bench/beside_cbc.py compares.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/sharding/solver/Solve.h"
#include "weft/test/unit/RandomGraphs.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

using namespace weft;

static std::string label(size_t node, size_t number) {
  return "x" + std::to_string(node) + "_" + std::to_string(number);
}
static std::string pair(size_t edge, size_t row, size_t column) {
  return "y" + std::to_string(edge) + "_" + std::to_string(row) + "_" +
         std::to_string(column);
}

static void writeCosts(std::ostream &out, const ChoiceGraph &graph) {
  out << "Minimize\n obj: 0 zero\n";
  auto add = [&](int64_t cost, const std::string &name) {
    if (cost != kForbidden && cost != 0)
      out << " + " << cost << " " << name << "\n";
  };
  for (unsigned node = 0; node < graph.size(); ++node)
    for (size_t at = 0; at < graph.costs(node).size(); ++at)
      add(graph.costs(node)[at], label(node, at));
  for (size_t edge = 0; edge < graph.edges().size(); ++edge) {
    const PairCosts &table = *graph.edges()[edge].table;
    for (unsigned row = 0; row < table.rows; ++row)
      for (unsigned column = 0; column < table.columns; ++column)
        add(table.at(row, column), pair(edge, row, column));
  }
}

/// The pairs of each row, or of each column, are as many as the labels that stand
/// for it.
static void writeEdge(std::ostream &out, const ChoiceGraph &graph, size_t edge,
                      bool isRow) {
  const ChoiceGraph::Edge &its = graph.edges()[edge];
  const PairCosts &table = *its.table;
  unsigned node = isRow ? its.first : its.second;
  const std::vector<unsigned> &places = isRow ? its.rowOf : its.columnOf;
  unsigned count = isRow ? table.rows : table.columns;
  unsigned others = isRow ? table.columns : table.rows;
  for (unsigned place = 0; place < count; ++place) {
    out << (isRow ? " r" : " c") << edge << "_" << place << ": 0 zero";
    for (unsigned other = 0; other < others; ++other)
      out << " + "
          << (isRow ? pair(edge, place, other) : pair(edge, other, place));
    for (size_t at = 0; at < places.size(); ++at)
      if (places[at] == place)
        out << " - " << label(node, at);
    out << " = 0\n";
  }
}

static void write(std::ostream &out, const ChoiceGraph &graph) {
  writeCosts(out, graph);
  out << "Subject To\n";
  for (unsigned node = 0; node < graph.size(); ++node) {
    out << " n" << node << ": 0 zero";
    for (size_t at = 0; at < graph.costs(node).size(); ++at)
      out << " + " << label(node, at);
    out << " = 1\n";
  }
  for (size_t edge = 0; edge < graph.edges().size(); ++edge) {
    writeEdge(out, graph, edge, /*isRow=*/true);
    writeEdge(out, graph, edge, /*isRow=*/false);
  }
  out << "Bounds\n zero = 0\n";
  for (unsigned node = 0; node < graph.size(); ++node)
    for (size_t at = 0; at < graph.costs(node).size(); ++at)
      if (graph.costs(node)[at] == kForbidden)
        out << " " << label(node, at) << " = 0\n";
  for (size_t edge = 0; edge < graph.edges().size(); ++edge) {
    const PairCosts &table = *graph.edges()[edge].table;
    for (unsigned row = 0; row < table.rows; ++row)
      for (unsigned column = 0; column < table.columns; ++column)
        if (table.at(row, column) == kForbidden)
          out << " " << pair(edge, row, column) << " = 0\n";
  }
  out << "Binaries\n";
  for (unsigned node = 0; node < graph.size(); ++node)
    for (size_t at = 0; at < graph.costs(node).size(); ++at)
      out << " " << label(node, at) << "\n";
  out << "End\n";
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: choice-graphs COUNT FOLDER\n";
    return 2;
  }
  int count = std::atoi(argv[1]);
  for (unsigned seed = 0, made = 0; int(made) < count; ++seed) {
    test::RandomGraph random(
        seed, {.leastNodes = 20, .nodes = 60, .labels = 8, .band = 0});
    if (random.large)
      continue; // an integer program's costs are floating-point numbers
    Solution solution =
        solve(random.graph, std::vector<unsigned>(random.graph.size()),
              {.sweeps = 64, .gapBits = 60});
    std::ofstream out(std::string(argv[2]) + "/" + std::to_string(made) +
                      ".lp");
    write(out, random.graph);
    bool isNone = solution.cost == kForbidden;
    std::cout << made++ << " " << (isNone ? -1 : solution.cost) << " "
              << solution.bound << " " << random.graph.size() << "\n";
  }
}
