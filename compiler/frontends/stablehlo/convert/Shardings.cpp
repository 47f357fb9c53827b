//===- Shardings.cpp - shardings of a program as layouts ------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Shardings.h"

#include "weft/compiler/frontends/stablehlo/convert/MeshDigits.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

SmallVector<NamedAttribute> Annotation::options() const {
  SmallVector<NamedAttribute> result;
  if (!layout)
    return result;
  Builder builder(layout.getContext());
  auto add = [&](StringRef name, Attribute attribute) {
    result.push_back(builder.getNamedAttr(name, attribute));
  };
  if (!open.empty())
    add("weft.open", builder.getDenseI64ArrayAttr(open));
  if (priority)
    add("weft.priority", builder.getI64IntegerAttr(priority));
  if (!replicated.empty())
    add("weft.replicated", builder.getArrayAttr(replicated));
  return result;
}

static ArrayAttr listOf(DictionaryAttr tree, StringRef key) {
  auto list = tree.getAs<ArrayAttr>(key);
  return list ? list : ArrayAttr::get(tree.getContext(), {});
}

/// Converts {names = [...], sizes = [...], devices = [...]} to #weft.mesh.
static FailureOr<MeshAttr> toMesh(Location loc, DictionaryAttr tree) {
  Mesh mesh;
  ArrayAttr names = listOf(tree, "names"), sizes = listOf(tree, "sizes");
  for (size_t i = 0; i < names.size() && i < sizes.size(); ++i) {
    auto name = dyn_cast<StringAttr>(names[i]);
    auto size = dyn_cast<IntegerAttr>(sizes[i]);
    if (!name || !size)
      return emitError(loc)
             << "a mesh has the axis " << names[i] << " of size " << sizes[i];
    mesh.axes.push_back({name.str(), size.getInt()});
  }
  auto devices = tree.getAs<DenseI64ArrayAttr>("devices");
  if (devices && !mesh.axes.empty())
    mesh.devices.assign(devices.asArrayRef().begin(),
                        devices.asArrayRef().end());
  int64_t count = 1;
  for (const MeshAxis &axis : mesh.axes) {
    if (axis.size < 1 || axis.size > (1 << 20) / count)
      return emitError(loc)
             << "a mesh has the axis \"" << axis.name << "\" of size "
             << axis.size << "; all sizes together may be 1 to 1048576";
    count *= axis.size;
  }
  if (std::string reason = mesh.invalidReason(); !reason.empty())
    return emitError(loc) << "a mesh is not usable: " << reason;
  return MeshAttr::get(tree.getContext(), mesh);
}

FailureOr<MeshAttr> Shardings::meshOf(Location loc,
                                      DictionaryAttr sharding) const {
  Attribute mesh = sharding.get("mesh");
  if (auto name = dyn_cast_or_null<StringAttr>(mesh)) {
    auto found = named.find(name.getValue());
    if (found == named.end())
      return emitError(loc) << "a sharding names the mesh @" << name.getValue()
                            << ", which the program does not define";
    return toMesh(loc, found->second);
  }
  if (auto tree = dyn_cast_or_null<DictionaryAttr>(mesh))
    return toMesh(loc, tree);
  return emitError(loc) << "a sharding without a mesh: " << sharding;
}

bool Shardings::isOverMesh(Location loc, Attribute sharding) const {
  auto tree = dyn_cast_or_null<DictionaryAttr>(sharding);
  if (!tree)
    return false;
  auto mesh = meshOf(loc, tree);
  return succeeded(mesh) && *mesh == meshAttribute;
}

int64_t Shardings::devices() const {
  return meshAttribute ? meshAttribute.getMesh().size() : 1;
}

void Shardings::assume(MLIRContext *context, int64_t devices) {
  Mesh mesh;
  mesh.axes.push_back({"devices", devices});
  meshAttribute = MeshAttr::get(context, mesh);
}

/// Whether the sharding names an axis.
static bool namesAxes(DictionaryAttr sharding) {
  for (Attribute dim : listOf(sharding, "dims"))
    if (auto tree = dyn_cast<DictionaryAttr>(dim))
      if (!listOf(tree, "axes").empty())
        return true;
  return !listOf(sharding, "replicated").empty() ||
         !listOf(sharding, "unreduced").empty();
}

LogicalResult Shardings::see(Location loc, Attribute attribute) {
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    for (Attribute entry : list)
      if (failed(see(loc, entry)))
        return failure();
    return success();
  }
  auto tree = dyn_cast<DictionaryAttr>(attribute);
  if (!tree)
    return success();
  if (!tree.contains("mesh") || !tree.contains("dims")) {
    for (NamedAttribute entry : tree)
      if (failed(see(loc, entry.getValue())))
        return failure();
    return success();
  }
  auto mesh = meshOf(loc, tree);
  if (failed(mesh))
    return failure();
  if ((*mesh).getMesh().size() == 1 || (meshAttribute && !namesAxes(tree)))
    return success();
  if (meshAttribute && !alignedTo((*mesh).getMesh(), meshAttribute.getMesh()))
    return emitError(loc) << "the program shards over " << meshAttribute
                          << " of " << meshAttribute.getMesh().size()
                          << " devices and over " << *mesh << " of "
                          << (*mesh).getMesh().size()
                          << "; Weft takes one set of devices for a program";
  if (!meshAttribute)
    meshAttribute = *mesh;
  return success();
}

LogicalResult Shardings::collect(ModuleOp program) {
  for (Operation &op : *program.getBody())
    if (op.getName().getStringRef() == "sdy.mesh")
      if (auto name = op.getAttrOfType<StringAttr>("sym_name"))
        if (auto mesh = op.getAttrOfType<DictionaryAttr>("mesh"))
          named[name.getValue()] = mesh;
  auto found = program.walk([&](Operation *op) {
    if (op->getName().getStringRef() == "sdy.mesh")
      return WalkResult::advance();
    return failed(see(op->getLoc(), op->getAttrDictionary()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(found.wasInterrupted());
}

/// Converts "x" or ["x", 2, 4] to an axis or sub-axis.
static FailureOr<SubAxis> toAxis(Location loc, const Mesh &mesh,
                                 Attribute tree) {
  Attribute name = tree;
  auto list = dyn_cast<ArrayAttr>(tree);
  if (list && list.size() == 3)
    name = list[0];
  auto text = dyn_cast<StringAttr>(name);
  auto axis = text ? mesh.find(text.getValue()) : std::nullopt;
  if (!axis)
    return emitError(loc) << "a sharding names " << tree
                          << ", which is no axis of its mesh";
  if (!list)
    return fullAxis(mesh, *axis);
  auto skip = dyn_cast<IntegerAttr>(list[1]);
  auto size = dyn_cast<IntegerAttr>(list[2]);
  if (!skip || !size)
    return emitError(loc) << "a sharding has the sub-axis " << tree;
  return SubAxis{*axis, skip.getInt(), size.getInt()};
}

/// Reads axes, and expresses them by axes of the program's mesh.
static LogicalResult readAxes(Location loc, const Mesh &own, const Mesh &mesh,
                              ArrayAttr axes, ArrayAttr only, SubAxes &out) {
  for (Attribute axis : axes) {
    auto digit = toAxis(loc, own, axis);
    if (failed(digit))
      return failure();
    if (only &&
        !llvm::is_contained(only, StringAttr::get(axes.getContext(),
                                                  own.axes[digit->axis].name)))
      continue;
    if (own == mesh) {
      out.push_back(*digit);
      continue;
    }
    auto digits = digitsOf(own, *digit, mesh);
    if (!digits)
      return emitError(loc) << "a sharding names " << axis
                            << ", which is no part of the program's mesh";
    llvm::append_range(out, *digits);
  }
  return success();
}

/// Reads one dimension's axes, priority, and whether it is open.
static LogicalResult readDim(Location loc, const Mesh &own, const Mesh &mesh,
                             Attribute tree, int64_t index, Layout &layout,
                             Annotation &annotation, ArrayAttr only) {
  auto dim = dyn_cast<DictionaryAttr>(tree);
  if (!dim)
    return emitError(loc) << "a sharding has the dimension " << tree;
  if (failed(readAxes(loc, own, mesh, listOf(dim, "axes"), only,
                      layout.dims[index])))
    return failure();
  if (auto closed = dim.getAs<BoolAttr>("closed"); closed && !closed.getValue())
    annotation.open.push_back(index);
  if (auto priority = dim.getAs<IntegerAttr>("priority"))
    annotation.priority = std::max(annotation.priority, priority.getInt());
  return success();
}

FailureOr<Annotation> Shardings::resolve(Location loc, Attribute attribute,
                                         int64_t rank, ArrayAttr only) const {
  Annotation annotation;
  auto sharding = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!sharding || ignored || !meshAttribute)
    return annotation;
  const Mesh mesh = meshAttribute.getMesh();
  Mesh own = mesh;
  if (namesAxes(sharding)) {
    auto said = meshOf(loc, sharding);
    if (failed(said))
      return failure();
    const Mesh foreign = (*said).getMesh();
    own = alignedTo(foreign, mesh).value_or(foreign);
    annotation.devices = orderOn(foreign, own, mesh);
  }
  ArrayAttr dims = listOf(sharding, "dims");
  if (static_cast<int64_t>(dims.size()) != rank)
    return emitError(loc) << "a sharding has " << dims.size()
                          << " dimensions, the tensor " << rank;
  Layout layout = Layout::replicated(rank);
  for (int64_t i = 0; i < rank; ++i)
    if (failed(readDim(loc, own, mesh, dims[i], i, layout, annotation, only)))
      return failure();
  if (failed(readAxes(loc, own, mesh, listOf(sharding, "unreduced"), only,
                      layout.partial)))
    return failure();
  for (Attribute axis : listOf(sharding, "replicated"))
    if (isa<StringAttr>(axis) && own == mesh)
      annotation.replicated.push_back(axis);
  layout = normalise(mesh, layout);
  if (std::string reason = invalidReason(mesh, layout, rank); !reason.empty())
    return emitError(loc) << "a sharding is not usable: " << reason;
  // A sharding without axes and with only open dimensions is no layout.
  bool free = layout.isReplicated() && rank > 0 &&
              annotation.open.size() == static_cast<size_t>(rank);
  if (!free)
    annotation.layout = LayoutAttr::get(meshAttribute, layout);
  return annotation;
}
