//===- report-test.cpp - a step over time, and the page that shows it -----===//

#include "weft/compiler/report/Html.h"
#include "weft/compiler/report/HtmlReport.h"
#include "weft/compiler/report/Sections.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace weft;

namespace {

constexpr char kPlan[] = R"mlir(
#mesh = #weft.mesh<"data"=2, "model"=4>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"model"}]>
#scalar = #weft.layout<#mesh, []>
#group = #weft.layout<#mesh, [{"model"}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_reduce<=1, memory<=10"} {
  plan.program @train mesh #mesh arena 1024 {
    %w = plan.input "<script>alert(1)</script>" role "weight" of tensor<7x10xf32> in #columns : memref<7x3xf32>
    %x = plan.input "x" role "input" of tensor<3x7xf32> in #rows : memref<2x7xf32>
    %w2 = plan.output "<script>alert(1)</script>" role "weight" of tensor<7x10xf32> in #columns taking %w : memref<7x3xf32> : memref<7x3xf32>
    %l = plan.output "loss" role "metric" of tensor<f32> in #scalar : memref<f32>
    %a = plan.buffer offset 0 : memref<64xf32>
    %b = plan.buffer offset 256 : memref<64xf32>
    %c = plan.buffer offset 512 : memref<100xf32>
    %d = plan.buffer offset 0 : memref<32xf32>
    plan.launch @first(%x, %w, %a) : memref<2x7xf32>, memref<7x3xf32>, memref<64xf32>
    plan.launch @second(%a, %b) : memref<64xf32>, memref<64xf32>
    %0 = plan.start "all_reduce" #plan.combination<sum> (%b) to (%b) over #group reason "b is \22summed\22 & <b>" : (memref<64xf32>) to (memref<64xf32>)
    plan.wait %0
    plan.launch @back(%a, %b, %c) : memref<64xf32>, memref<64xf32>, memref<100xf32> loc("gradient of"("a"))
    plan.launch @update(%c, %d, %w) : memref<100xf32>, memref<32xf32>, memref<7x3xf32>
    plan.launch @last(%d, %l) : memref<32xf32>, memref<f32>
  }
}
)mlir";

struct Read {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  explicit Read(llvm::StringRef text) {
    context.loadDialect<WeftDialect, plan::PlanDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
  }
  plan::ProgramOp program() {
    return *module->getOps<plan::ProgramOp>().begin();
  }
  Report report() {
    Report report;
    report.program = "a&b.mlir";
    report.explanation = explainProgram(program());
    report.mesh = program().getMesh().getMesh();
    report.tensors = tensorLayouts(program());
    report.timeline = timelineOf(program());
    report.limits = limitsOf(*module, {"bytes<=1_000"}, report.explanation);
    return report;
  }
};

bool contains(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

TensorLayout tensor(std::vector<int64_t> shape, Layout layout) {
  layout.dims.resize(shape.size());
  return {"t", "weight", "float32", std::move(shape), std::move(layout),
          "",  false};
}

} // namespace

TEST_CASE("memory in use rises and falls with first and last uses") {
  Read read(kPlan);
  Timeline timeline = timelineOf(read.program());
  REQUIRE(timeline.moments.size() == 6);
  std::vector<int64_t> kept, temporaries;
  for (const Moment &moment : timeline.moments) {
    kept.push_back(moment.kept);
    temporaries.push_back(moment.temporaries);
  }
  CHECK(kept == std::vector<int64_t>{256, 512, 512, 512, 0, 0});
  CHECK(temporaries == std::vector<int64_t>{0, 0, 0, 400, 528, 128});
  CHECK(timeline.peak == 3);
  REQUIRE(timeline.atPeak.size() == 3);
  CHECK(timeline.atPeak.front().bytes == 400);
  CHECK(timeline.atPeak.front().type == "100 float32");
  CHECK_FALSE(timeline.atPeak.front().isKept);
  CHECK(timeline.atPeak.back().isKept);
  CHECK(timeline.moments[2].what == "all_reduce");
  CHECK(timeline.moments[2].collective == 0u);
  CHECK(timeline.moments[0].phase == StepPhase::Forward);
  CHECK(timeline.moments[3].phase == StepPhase::Backward);
  CHECK(timeline.moments[4].phase == StepPhase::Update);
}

TEST_CASE("the peak and the gaps between buffers are the memory of a device") {
  Read read(kPlan);
  Report report = read.report();
  const MemoryUse &memory = report.explanation.memory;
  const Timeline &timeline = report.timeline;
  CHECK(memory.total() ==
        memory.weights + memory.optimizer + memory.batch + timeline.results +
            timeline.moments[timeline.peak].inUse() + timeline.unused());
  CHECK(timeline.unused() == 1024 - 912);
  // The values kept at the beginning of the backward pass are its activations.
  CHECK(memory.activations == timeline.results + timeline.moments[3].kept);
}

TEST_CASE("a value that a loop carries is in use in every round") {
  Read read(R"mlir(
    #mesh = #weft.mesh<"d"=1>
    #all = #weft.layout<#mesh, [{}]>
    module {
      plan.program @f mesh #mesh arena 128 {
        %x = plan.input "x" role "input" of tensor<4xf32> in #all : memref<4xf32>
        %c = plan.buffer offset 0 : memref<i1>
        %v = plan.buffer offset 64 : memref<4xf32>
        plan.launch @start(%x, %v) : memref<4xf32>, memref<4xf32>
        plan.label "head"
        plan.launch @test(%v, %c) : memref<4xf32>, memref<i1>
        plan.jump_unless %c "end" : memref<i1>
        plan.launch @other(%x) : memref<4xf32>
        plan.jump "head"
        plan.label "end"
      }
    })mlir");
  Timeline timeline = timelineOf(read.program());
  REQUIRE(timeline.moments.size() == 5);
  CHECK(timeline.moments[4].inUse() == 16); // %v is read again
  CHECK(timeline.moments[1].inUse() == 17);
  CHECK_FALSE(timeline.trains);
}

TEST_CASE("a port is one tensor, updated in place or not") {
  Read read(kPlan);
  std::vector<TensorLayout> tensors = tensorLayouts(read.program());
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].role == "weight");
  CHECK(tensors[1].shape == std::vector<int64_t>{3, 7});
  CHECK(tensors[2].name == "loss");
  CHECK(tensors[2].isOutput);
}

TEST_CASE("limits stand beside the costs of the step") {
  Read read(kPlan);
  Report report = read.report();
  REQUIRE(report.limits.size() == 3);
  CHECK(report.limits[0].holds());
  CHECK(report.limits[0].source == "weft.expect");
  CHECK_FALSE(report.limits[1].holds());
  CHECK(report.limits[1].cost == report.explanation.memory.total());
  CHECK(report.limits[2].source == "--expect");
}

TEST_CASE("a user's text never becomes markup") {
  CHECK(html::escaped("<a href='x'>&\"") ==
        "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  CHECK(html::escaped("gr\xc3\xbc\xc3\x9f\x65 \xff\x01") ==
        "gr\xc3\xbc\xc3\x9f\x65 \xef\xbf\xbd\xef\xbf\xbd");
  CHECK(html::escaped("\xe2\x82") == "\xef\xbf\xbd\xef\xbf\xbd"); // cut short
  CHECK(html::shortened("\xc3\xbc\xc3\xbc\xc3\xbc", 2) == "\xc3\xbc\xc3\xbc…");
  Read read(kPlan);
  std::string page = toHtml(read.report());
  CHECK_FALSE(contains(page, "<script>alert"));
  CHECK(contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  CHECK(contains(page, "b is &quot;summed&quot; &amp; &lt;b&gt;"));
  CHECK(contains(page, "a&amp;b.mlir"));
}

TEST_CASE("the same report is the same bytes, which refer to no other file") {
  Read read(kPlan);
  std::string page = toHtml(read.report());
  CHECK(page == toHtml(read.report()));
  for (const char *absent :
       {"http://", "https://", "@import", "url(//", " src="})
    CHECK_FALSE(contains(page, absent));
}

static Layout split(llvm::SmallVector<SubAxes> dims) {
  Layout layout;
  layout.dims.assign(dims.begin(), dims.end());
  return layout;
}

TEST_CASE("layouts in words and as blocks") {
  Mesh mesh;
  mesh.axes = {{"data", 2}, {"model", 4}};
  SubAxes data = {fullAxis(mesh, 0)}, model = {fullAxis(mesh, 1)};
  CHECK(html::layoutWords(mesh, tensor({7, 8}, {})) ==
        "whole on each of the 8 devices");
  CHECK(html::layoutWords(mesh, tensor({8, 8}, split({data, model}))) ==
        "split: dimension 0 in 2 over data, dimension 1 in 4 over model; no "
        "copies");
  CHECK(
      html::layoutWords(mesh, tensor({7}, split({model}))) ==
      "split: dimension 0 in 4 over model; the last shard has 1 instead of 2; "
      "2 copies "
      "of each shard");
  TensorLayout few = tensor({2}, split({model}));
  CHECK(html::layoutWords(mesh, few) ==
        "split: dimension 0 in 4 over model; 4 devices hold nothing: 2,3,6,7; "
        "2 copies "
        "of each shard");
  std::string drawing = html::drawTensor(mesh, few);
  CHECK(contains(drawing, "<title>nothing, on devices 2,6</title>"));
  CHECK(
      contains(drawing, "<title>dimension 0: 0 to 1, on devices 0,4</title>"));
  Layout sum;
  sum.partial = model;
  CHECK(html::layoutWords(mesh, tensor({4}, sum)) ==
        "each device holds a summand (sum over model); 2 copies of each shard");
  CHECK(contains(html::drawTensor(mesh, tensor({4}, sum)), "url(#partial)"));
}

TEST_CASE("hundreds of alike tensors and collectives are drawn once") {
  Read read(kPlan);
  Report report = read.report();
  report.mesh.axes = {{"data", 64}, {"model", 64}};
  SubAxes both = {fullAxis(report.mesh, 0), fullAxis(report.mesh, 1)};
  CollectiveCost cost = report.explanation.collectives.front();
  for (int i = 0; i < 4000; ++i) {
    std::string name = "block_" + std::to_string(i) + "/kernel";
    report.tensors.push_back(
        {name, "weight", "float32", {5000, 64}, split({both, {}}), "", false});
    cost.where = {name};
    cost.reason = name + " is gathered";
    report.explanation.collectives.push_back(cost);
  }
  std::string page = toHtml(report);
  CHECK(page.size() < 200'000);
  CHECK(contains(page, "and 3,999 like it"));
}
