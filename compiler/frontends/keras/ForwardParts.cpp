//===- ForwardParts.cpp - layers as weft ops ------------------------------===//

#include "weft/compiler/frontends/keras/StepParts.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

class Forward {
public:
  Forward(OpBuilder &builder, MutableArrayRef<Value> variables, bool training)
      : builder(builder), variables(variables), training(training) {}

  FailureOr<Value> run(const Layer &layer, const Node &node, Value x);

private:
  Value dense(Tensors &t, const Layer &layer, Value x);
  Value dropout(Tensors &t, const Layer &layer, Value x);
  Value relu(Tensors &t, const Layer &layer, Value x);
  FailureOr<Value> rescaling(Tensors &t, const Layer &layer, Value x);
  FailureOr<Value> softmax(Tensors &t, const Layer &layer, Value x);

  OpBuilder &builder;
  MutableArrayRef<Value> variables;
  bool training;
};

Value Forward::dense(Tensors &t, const Layer &layer, Value x) {
  int64_t last = tensorType(x).getRank() - 1;
  Value out = t.make<DotOp>(x, variables[layer.kernel], ArrayRef<int64_t>{last},
                            ArrayRef<int64_t>{0});
  if (layer.bias >= 0)
    out = t.add(out, t.make<BroadcastOp>(variables[layer.bias],
                                         tensorType(out).getShape(),
                                         ArrayRef<int64_t>{last}));
  return activation(t, layer.activation, out);
}

Value Forward::dropout(Tensors &t, const Layer &layer, Value x) {
  if (!training || layer.rate == 0)
    return x;
  if (layer.rate == 1)
    return t.splat(0, x);
  double keep = 1.0 - layer.rate;
  Value &state = variables[layer.seedState];
  Value uniform = t.uniform(state, tensorType(x));
  Value mask = t.compare(CompareKind::LT, uniform, t.splat(keep, uniform));
  // The key of call n is {seed, n}.
  auto next =
      DenseElementsAttr::get(tensorType(state), ArrayRef<uint32_t>{0, 1});
  state = t.add(state, t.make<ConstantOp>(ElementsAttr(next)));
  return t.make<SelectOp>(mask, t.div(x, keep), t.splat(0, x));
}

/// keras.activations.relu with its three options.
Value Forward::relu(Tensors &t, const Layer &layer, Value x) {
  bool shifted = layer.threshold != 0, clip = layer.maxValue.has_value();
  if (layer.negativeSlope != 0 && !clip && !shifted)
    return t.make<SelectOp>(t.compare(CompareKind::GE, x, t.splat(0, x)), x,
                            t.mul(x, layer.negativeSlope));
  Value out;
  if (shifted) {
    Value above = t.compare(CompareKind::GT, x, t.splat(layer.threshold, x));
    out = t.mul(x, t.toFloat(above));
  } else {
    out = t.make<ReluOp>(x);
  }
  if (clip)
    out = t.min(t.max(out, 0), *layer.maxValue);
  if (layer.negativeSlope != 0) {
    Value negative = t.make<NegOp>(x);
    if (shifted)
      negative = t.add(negative, layer.threshold);
    out = t.sub(out, t.mul(t.make<ReluOp>(negative), layer.negativeSlope));
  }
  return out;
}

FailureOr<Value> Forward::rescaling(Tensors &t, const Layer &layer, Value x) {
  for (const std::vector<double> *numbers : {&layer.scale, &layer.offset})
    if (numbers->size() != 1 &&
        int64_t(numbers->size()) != tensorType(x).getShape().back())
      return emitError(t.loc)
             << "layer \"" << layer.name << "\": has " << numbers->size()
             << " factors, the last dimension is "
             << tensorType(x).getShape().back();
  return t.add(t.mul(x, t.row(layer.scale, x)), t.row(layer.offset, x));
}

FailureOr<Value> Forward::softmax(Tensors &t, const Layer &layer, Value x) {
  int64_t rank = tensorType(x).getRank();
  SmallVector<int64_t> dims;
  for (int64_t axis : layer.axes)
    dims.push_back(axis < 0 ? axis + rank : axis);
  llvm::sort(dims);
  for (int64_t dim : dims)
    if (dim < 0 || dim >= rank || llvm::count(dims, dim) != 1)
      return emitError(t.loc) << "layer \"" << layer.name << "\": axis " << dim
                              << " is not one of " << rank << " dimensions";
  return t.softmax(x, dims);
}

FailureOr<Value> Forward::run(const Layer &layer, const Node &node, Value x) {
  Location loc = NameLoc::get(builder.getStringAttr(layer.name));
  Tensors t(builder, loc);
  switch (layer.kind) {
  case LayerKind::Dense:
    return dense(t, layer, x);
  case LayerKind::Dropout:
    return dropout(t, layer, x);
  case LayerKind::ReLU:
    return relu(t, layer, x);
  case LayerKind::Softmax:
    return softmax(t, layer, x);
  case LayerKind::Rescaling:
    return rescaling(t, layer, x);
  case LayerKind::Activation:
    return activation(t, layer.activation, x);
  case LayerKind::Flatten:
  case LayerKind::Reshape: {
    SmallVector<int64_t> shape = {tensorType(x).getDimSize(0)};
    shape.append(node.shape.begin(), node.shape.end());
    if (tensorType(x).getShape() == ArrayRef<int64_t>(shape))
      return x;
    return t.make<ReshapeOp>(x, shape);
  }
  case LayerKind::Nested:
  case LayerKind::Input:
    break;
  }
  return x;
}

} // namespace

FailureOr<SmallVector<Value>>
weft::keras::buildForward(OpBuilder &builder, const Model &model,
                          MutableArrayRef<Value> variables,
                          ArrayRef<Value> inputs, bool training,
                          const OutputLayouts &layouts, Attribute mesh) {
  Forward forward(builder, variables, training);
  SmallVector<Value> values(model.nodes.size());
  for (auto [node, value] : llvm::zip_equal(model.inputs, inputs))
    values[node] = value;
  for (unsigned i = 0; i < model.nodes.size(); ++i) {
    const Node &node = model.nodes[i];
    const Layer &layer = model.layers[node.layer];
    if (layer.kind == LayerKind::Input)
      continue;
    FailureOr<Value> result = forward.run(layer, node, values[node.inputs[0]]);
    if (failed(result))
      return failure();
    values[i] = *result;
    auto layout = layouts.find(layer.name);
    if (layout == layouts.end())
      continue;
    values[i] = ConstrainOp::create(
        builder, NameLoc::get(builder.getStringAttr(layer.name)),
        values[i].getType(), values[i],
        LayoutAttr::get(cast<MeshAttr>(mesh), layout->second.layout),
        builder.getStringAttr(layout->second.reason));
  }
  SmallVector<Value> outputs;
  for (unsigned node : model.outputs)
    outputs.push_back(values[node]);
  return outputs;
}
