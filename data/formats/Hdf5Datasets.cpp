#include "weft/data/formats/Hdf5Datasets.h"

#include "weft/base/WriteAll.h"
#include "weft/data/files/Files.h"
#include "weft/data/files/Isolation.h"
#include "weft/data/formats/Hdf5Library.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weft {

using namespace hdf5;
using nlohmann::json;

/// The bytes of one read, if a row has fewer.
static constexpr size_t kPiece = size_t(4) << 20;
/// The time limit: reading large files takes long, but an endless loop must
/// end.
static constexpr unsigned kSeconds = 3600;

/// The offset of a dataset whose bytes can be read without the library.
static json offsetOf(const Dataset &set) {
  hid_t plain = typeOf(set.element, /*inFile=*/true);
  bool isPlain = set.element == ElementType::Float16 ||
                 set.element == ElementType::BFloat16 ||
                 set.element == ElementType::Bool ||
                 (plain >= 0 && H5Tequal(set.type, plain) > 0);
  Handle made(H5Dget_create_plist(set.id), H5Pclose);
  if (set.element == ElementType::Float16 &&
      H5Tget_order(set.type) != H5T_ORDER_LE)
    isPlain = false;
  haddr_t offset = H5Dget_offset(set.id);
  if (!isPlain || H5Pget_layout(made) != H5D_CONTIGUOUS ||
      H5Pget_nfilters(made) != 0 || offset == HADDR_UNDEF)
    return nullptr;
  return uint64_t(offset);
}

static hid_t open(const Hdf5Place &place) {
  return place.file < 0
             ? H5Fopen(place.path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)
             : openDescriptor(place.file);
}

/// Lists the datasets: returns an error, or the JSON that describes them.
static json listHere(const Hdf5Place &place, uint64_t mostBytes) {
  Quiet quiet;
  Handle file(open(place), H5Fclose);
  if (file < 0)
    return place.where + ": is no HDF5 file that can be read; " + place.remedy;
  json list = json::array();
  Status walked =
      walkDatasets(file, place.where, mostBytes, [&](const Dataset &set) {
        list.push_back({{"name", set.path},
                        {"type", int(set.element)},
                        {"shape", set.shape},
                        {"offset", offsetOf(set)}});
        return Status();
      });
  return walked ? list : json(walked.message());
}

static Error failed(const Hdf5Place &place, const std::string &why) {
  return {place.where + ": the HDF5 library cannot read it: " + why +
          "; the file is damaged, " + place.remedy};
}

Result<std::vector<Hdf5Dataset>> listHdf5(const Hdf5Place &place,
                                          uint64_t mostBytes) {
  Result<uint64_t> size = regularFileSize(place.path);
  if (!size)
    return size.error();
  auto sent = runIsolated([&](int file) {
    std::string text =
        listHere(place, mostBytes)
            .dump(-1, ' ', false, json::error_handler_t::replace);
    return writeAll(file, text.data(), text.size());
  });
  if (!sent)
    return failed(place, sent.message());
  json list = json::parse(sent->begin(), sent->end(), nullptr, false);
  if (list.is_string())
    return Error{list.get<std::string>()};
  std::vector<Hdf5Dataset> out;
  for (const json &said : list) {
    Hdf5Dataset set{said.at("name").get<std::string>(),
                    ElementType(said.at("type").get<int>()),
                    said.at("shape").get<Shape>(),
                    {}};
    uint64_t bytes = uint64_t(*elementCount(set.shape)) * byteWidth(set.type);
    if (said.at("offset").is_number()) {
      set.offset = said.at("offset").get<uint64_t>();
      if (*set.offset > *size || bytes > *size - *set.offset)
        return Error{place.where + ": " + set.name +
                     ": reaches over the end of the file; it was cut off or is "
                     "damaged"};
    }
    out.push_back(std::move(set));
  }
  return out;
}

/// Reads rows [begin, end) to `to`.
static bool readRows(const Dataset &set, hsize_t begin, hsize_t end,
                     std::vector<uint8_t> &to) {
  std::vector<hsize_t> start(set.shape.size(), 0),
      count(set.shape.begin(), set.shape.end());
  start[0] = begin;
  count[0] = end - begin;
  Handle space(H5Dget_space(set.id), H5Sclose),
      memory(H5Screate_simple(int(count.size()), count.data(), nullptr),
             H5Sclose);
  return H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr,
                             count.data(), nullptr) >= 0 &&
         H5Dread(set.id, readType(set.element, set.type), memory, space,
                 H5P_DEFAULT, to.data()) >= 0;
}

static Status unpackOne(const Dataset &set, int file) {
  if (set.shape.empty()) {
    std::vector<uint8_t> element(byteWidth(set.element));
    bool isRead = H5Dread(set.id, readType(set.element, set.type), H5S_ALL,
                          H5S_ALL, H5P_DEFAULT, element.data()) >= 0;
    return isRead && writeAll(file, element.data(), element.size())
               ? Status()
               : Error{"cannot be read; the file is damaged"};
  }
  size_t row = byteWidth(set.element);
  for (size_t d = 1; d < set.shape.size(); ++d)
    row *= size_t(set.shape[d]);
  hsize_t all = hsize_t(set.shape[0]),
          step = std::max<size_t>(1, kPiece / std::max<size_t>(1, row));
  std::vector<uint8_t> piece;
  for (hsize_t begin = 0; row && begin < all; begin += step) {
    hsize_t end = std::min(all, begin + step);
    piece.resize((end - begin) * row);
    if (!readRows(set, begin, end, piece))
      return Error{"cannot be read; the file is damaged"};
    if (!writeAll(file, piece.data(), piece.size()))
      return Error{"cannot be unpacked to a temporary file; free some space in "
                   "TMPDIR (else /var/tmp), or save it without compression"};
  }
  return {};
}

Status unpackHdf5(const Hdf5Place &place, const std::string &name, int file) {
  auto sent = runIsolated(
      [&](int answer) {
        Quiet quiet;
        Handle opened(open(place), H5Fclose);
        Status walked =
            Error{place.where + ": cannot be opened again; it was changed"};
        if (opened >= 0)
          walked = walkDatasets(
              opened, place.where, INT64_MAX, [&](const Dataset &set) {
                return set.path == name ? unpackOne(set, file) : Status();
              });
        std::string wrong = walked ? "" : walked.message();
        return writeAll(answer, wrong.data(), wrong.size());
      },
      kSeconds);
  if (!sent)
    return failed(place, sent.message());
  return sent->empty() ? Status{}
                       : Status{Error{std::string(sent->begin(), sent->end())}};
}

} // namespace weft
