//===- KerasArchive.h - .keras and .weights.h5 files ------------*- C++ -*-===//
//
//   Result<KerasArchive> archive = readKerasArchive("m.keras");
//   compile(archive->config);
//   // The front end knows its layers, and which dataset each variable is:
//   std::vector<SavedVariable> map = {{"d1/kernel", "layers/dense/vars/0"}, ...};
//   state.load(*byVariablePath(archive->weights, map, "m.keras"));
//
//   archive->weights = bySavedPath(state.stored(), map);
//   writeKerasArchive("trained.keras", *archive, groups);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_KERASARCHIVE_H
#define WEFT_DATA_FORMATS_KERASARCHIVE_H

#include "weft/data/formats/Hdf5.h"
#include "weft/data/formats/Zip.h"

namespace weft {

struct KerasArchive {
  std::string metadata;             ///< JSON: keras_version, date_saved
  std::string config;               ///< JSON: the text of model.to_json()
  std::vector<StoredArray> weights; ///< named by HDF5 path: layers/dense/vars/0
  std::vector<std::string> unread = {}; ///< members that Keras does not write
};

Result<KerasArchive> readKerasArchive(const std::string &path,
                                      const ReadLimits &limits = {});
/// Writes an archive. `groups`: one for each saved object, such as
/// {"layers/dense/vars", "d1"}. An empty metadata is filled in. Without
/// `writesFile` the weights are read and nothing is written, as in all
/// processes but one.
Status writeKerasArchive(const std::string &path, const KerasArchive &archive,
                         const std::vector<Hdf5Group> &groups,
                         bool writesFile = true);
/// Writes the bytes of a .weights.h5 file, which appears by commit(). Reads all
/// weights, even after an error.
Result<OutputFile> prepareWeightsH5(const std::string &path,
                                    const std::vector<Hdf5Group> &groups,
                                    const std::vector<StoredArray> &weights);
/// Writes a .weights.h5 file of weights by HDF5 path, which openHdf5 reads.
Status writeWeightsH5(const std::string &path,
                      const std::vector<Hdf5Group> &groups,
                      const std::vector<StoredArray> &weights,
                      bool writesFile = true);

/// A variable's path and its dataset in the weight file.
struct SavedVariable {
  std::string path;      ///< d1/kernel, adam/d1_kernel_momentum
  std::string savedPath; ///< layers/dense/vars/0, optimizer/vars/2
  bool optional = false; ///< whether a file may lack it, as the optimizer's
};
/// Renames datasets to variable paths. A missing dataset that is not optional
/// is an error; datasets of no variable are left out.
Result<std::vector<StoredArray>>
byVariablePath(const std::vector<StoredArray> &weights,
               const std::vector<SavedVariable> &variables,
               const std::string &where);
/// Renames variables to datasets; variables that the list does not name are
/// left out.
std::vector<StoredArray>
bySavedPath(const std::vector<StoredArray> &values,
            const std::vector<SavedVariable> &variables);

} // namespace weft

#endif // WEFT_DATA_FORMATS_KERASARCHIVE_H
