#include "weft/runtime/program/PlanReader.h"

#include "weft/base/Hash.h"
#include "weft/base/Text.h"
#include "weft/runtime/abi/PlanPorts.h"

#include <set>

namespace weft::runtime {

std::string shapeText(std::span<const int64_t> shape) {
  return "[" + joined(shape, ", ") + "]";
}

/// Not an error of the file: programs of any size can be compiled.
static Status tooLarge(const std::string &what) {
  return makeError(StatusCode::OutOfMemory, "no memory for ", what,
                   ", which exceeds ", largestMemory,
                   " bytes; take a smaller model or batch");
}

Status countBytes(const std::string &what, std::span<const int64_t> shape,
                  DType dtype, uint64_t &bytes) {
  if (!isValid(dtype))
    return badPlan(what, " has the unknown dtype ", int(dtype));
  bytes = static_cast<uint64_t>(elementBytes(dtype));
  bool empty = false;
  for (int64_t n : shape) {
    if (n < 0)
      return badPlan(what, " has the negative dimension ", n);
    if (n == 0) {
      empty = true;
      continue;
    }
    if (static_cast<uint64_t>(n) > largestMemory / bytes)
      return tooLarge(what + " of shape " + shapeText(shape));
    bytes *= static_cast<uint64_t>(n);
  }
  if (empty)
    bytes = 0;
  return {};
}

std::vector<int64_t> readShape(const flatbuffers::Vector<int64_t> *shape) {
  return shape ? std::vector<int64_t>(shape->begin(), shape->end())
               : std::vector<int64_t>();
}

std::string readText(const flatbuffers::String *text) {
  return text ? text->str() : std::string();
}

Status PlanReader::read() {
  if (in.abi_version() != WEFT_ABI_VERSION)
    return makeError(StatusCode::Incompatible, "plan has ABI version ",
                     in.abi_version(), ", this runtime ", WEFT_ABI_VERSION,
                     "; compile it again with the same version of weft");
  out.name = readText(in.name());
  out.target = readText(in.target());
  if (Status ok = readMesh(); !ok)
    return ok;
  if (Status ok = readSharings(); !ok)
    return ok;
  if (Status ok = readBuffers(); !ok)
    return ok;
  if (Status ok = readPorts(); !ok)
    return ok;
  if (Status ok = readModules(); !ok)
    return ok;
  if (Status ok = readKernels(); !ok)
    return ok;
  if (Status ok = readInstructions(); !ok)
    return ok;
  return checkSharings();
}

Status PlanReader::readMesh() {
  if (!in.mesh() || !in.mesh()->axis_names() || !in.mesh()->axis_sizes())
    return badPlan("no mesh");
  Mesh &mesh = out.mesh;
  for (const flatbuffers::String *name : *in.mesh()->axis_names())
    mesh.axes.push_back({name->str()});
  std::vector<int64_t> sizes = readShape(in.mesh()->axis_sizes());
  if (mesh.axes.size() != sizes.size())
    return badPlan("mesh has ", mesh.axes.size(), " names and ", sizes.size(),
                   " sizes of axes");
  int64_t count = 1;
  for (size_t a = 0; a < sizes.size(); ++a) {
    if (sizes[a] < 1 || sizes[a] > mostDevices / count)
      return badPlan("mesh axis \"", mesh.axes[a].name, "\" of size ", sizes[a],
                     " is not between 1 and ", mostDevices / count);
    mesh.axes[a].size = sizes[a];
    count *= sizes[a];
  }
  mesh.devices = readShape(in.mesh()->devices());
  if (mesh.devices.empty())
    for (int64_t d = 0; d < count; ++d)
      mesh.devices.push_back(d);
  std::set<int64_t> ids(mesh.devices.begin(), mesh.devices.end());
  if (int64_t(mesh.devices.size()) != count || int64_t(ids.size()) != count ||
      *ids.begin() < 0)
    return badPlan("mesh of ", count, " devices lists ", mesh.devices.size(),
                   " ids, ", ids.size(), " of them different");
  return {};
}

Status PlanReader::readBuffers() {
  out.arenaBytes = in.arena_bytes();
  if (out.arenaBytes > largestMemory)
    return tooLarge("the arena of " + std::to_string(out.arenaBytes) +
                    " bytes");
  out.constants = in.constants() ? in.constants()->data() : nullptr;
  out.constantBytes = in.constants() ? in.constants()->size() : 0;
  if (!in.buffers())
    return {};
  out.buffers.resize(in.buffers()->size());
  for (size_t i = 0; i < out.buffers.size(); ++i)
    if (Status ok = readBuffer(i, *in.buffers()->Get(i)); !ok)
      return ok;
  return {};
}

Status PlanReader::readBuffer(size_t index, const plan::Buffer &buffer) {
  std::string what = "buffer " + std::to_string(index);
  if (buffer.name() && buffer.name()->size())
    what += " \"" + buffer.name()->str() + "\"";
  BufferInfo &info = out.buffers[index];
  info.kind = buffer.kind();
  info.offset = buffer.offset();
  info.dtype = buffer.dtype();
  info.shape = readShape(buffer.shape());
  if (Status ok = countBytes(what, info.shape, info.dtype, info.bytes); !ok)
    return ok;
  if (info.bytes != buffer.bytes())
    return badPlan(what, " has ", buffer.bytes(), " bytes, its shape ",
                   shapeText(info.shape), " ", info.bytes);
  if (info.kind > BufferKind::MAX)
    return badPlan(what, " has the unknown kind ", int(info.kind));
  if (Status ok = readShared(what, buffer.shared(), info.shared); !ok)
    return ok;
  info.sharedOffset = buffer.shared_offset();
  uint64_t room = 0;
  if (info.kind == BufferKind::arena)
    room = out.arenaBytes;
  else if (info.kind == BufferKind::constant)
    room = in.constants() ? in.constants()->size() : 0;
  else
    return {};
  if (info.offset > room || info.bytes > room - info.offset)
    return badPlan(what, " ends at ", info.offset, " + ", info.bytes,
                   ", its memory at ", room);
  if (info.offset % static_cast<uint64_t>(elementBytes(info.dtype)))
    return badPlan(what, " of ", name(info.dtype), " at offset ", info.offset,
                   " is not aligned");
  info.writable = info.kind == BufferKind::arena;
  return {};
}

Status PlanReader::readPort(const std::string &what, const plan::Port &port,
                            Port &info) {
  info = weft::readPort(port);
  if (info.name.find('\0') != std::string::npos)
    return badPlan(what, " has a NUL in its name");
  DType dtype = port.dtype();
  if (Status ok = countBytes(what, info.shape, dtype, info.globalBytes); !ok)
    return ok;
  if (info.buffer >= out.buffers.size())
    return badPlan(what, " is buffer ", info.buffer, " of ",
                   out.buffers.size());
  std::string reason = invalidReason(out.mesh, info.layout, info.shape.size());
  if (!reason.empty())
    return badPlan(what, ": ", reason);
  const BufferInfo &buffer = out.buffers[info.buffer];
  info.local = localShape(info.layout, info.shape);
  if (info.local != buffer.shape || dtype != buffer.dtype)
    return badPlan(what, " needs ", name(dtype), shapeText(info.local),
                   " on each device, its buffer is ", name(buffer.dtype),
                   shapeText(buffer.shape));
  info.localBytes = buffer.bytes;

  std::vector<int64_t> key = {int64_t(dtype), out.mesh.size()};
  key.insert(key.end(), info.shape.begin(), info.shape.end());
  key.insert(key.end(), out.mesh.devices.begin(), out.mesh.devices.end());
  for (int64_t p = 0; p < out.mesh.size(); ++p)
    if (!holds(out.mesh, info.layout, p))
      key.push_back(-1);
    else
      for (const Interval &i : own(out.mesh, info.layout, info.shape, p))
        key.push_back(i.begin);
  info.signature = hashBytes(key.data(), key.size() * sizeof key[0]);
  return {};
}

Status PlanReader::readPorts() {
  auto readAll = [&](const char *kind, auto *ports,
                     std::vector<Port> &infos) -> Status {
    infos.resize(ports ? ports->size() : 0);
    for (size_t i = 0; i < infos.size(); ++i) {
      const plan::Port &port = *ports->Get(i);
      // The name is cut at a NUL, at which messages end.
      std::string what = std::string(kind) + " " + std::to_string(i) + " \"" +
                         readText(port.name()).c_str() + "\"";
      if (Status ok = readPort(what, port, infos[i]); !ok)
        return ok;
    }
    return {};
  };
  if (Status ok = readAll("input", in.inputs(), out.inputs); !ok)
    return ok;
  if (Status ok = readAll("output", in.outputs(), out.outputs); !ok)
    return ok;
  return joinDonations();
}

Status PlanReader::joinDonations() {
  auto isPort = [&](uint32_t buffer) {
    BufferKind kind = out.buffers[buffer].kind;
    return kind == BufferKind::input || kind == BufferKind::output;
  };
  for (size_t i = 0; i < out.inputs.size(); ++i) {
    Port &input = out.inputs[i];
    BufferInfo &buffer = out.buffers[input.buffer];
    if (!isPort(input.buffer) || buffer.input != -1)
      return badPlan("input ", i, " \"", input.name, "\" is buffer ",
                     input.buffer, ", which is not its own");
    buffer.input = int64_t(i);
    if (input.donatedTo < 0) {
      if (buffer.kind != BufferKind::input)
        return badPlan("input ", i, " \"", input.name,
                       "\" is not donated, but its buffer is an output");
      continue;
    }
    if (size_t(input.donatedTo) >= out.outputs.size())
      return badPlan("input ", i, " is donated to output ", input.donatedTo,
                     " of ", out.outputs.size());
    Port &output = out.outputs[input.donatedTo];
    if (output.buffer != input.buffer || output.signature != input.signature ||
        output.donatedFrom != -1)
      return badPlan("input ", i, " \"", input.name, "\" is donated to output ",
                     input.donatedTo, " \"", output.name,
                     "\", which has other memory");
    output.donatedFrom = int64_t(i);
  }
  for (size_t i = 0; i < out.outputs.size(); ++i) {
    const Port &output = out.outputs[i];
    BufferInfo &buffer = out.buffers[output.buffer];
    if (!isPort(output.buffer) || buffer.output != -1 ||
        (buffer.input != -1) != (output.donatedFrom != -1))
      return badPlan("output ", i, " \"", output.name, "\" is buffer ",
                     output.buffer, ", which is not its own");
    buffer.output = int64_t(i);
    buffer.writable = true;
  }
  for (size_t b = 0; b < out.buffers.size(); ++b)
    if (isPort(b) && out.buffers[b].input == -1 && out.buffers[b].output == -1)
      return badPlan("buffer ", b, " belongs to a caller, but to no port");
  return {};
}

Status readPlan(const plan::Program &program, Plan &out) {
  return PlanReader(program, out).read();
}

} // namespace weft::runtime
