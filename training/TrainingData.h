//===- TrainingData.h - which arrays feed which ports -----------*- C++ -*-===//
//
//   DataOptions options{.data = "mnist.npz", .divideBy = 255};
//   Result<TrainingData> data = selectData(options, DataPurpose::Fit, ports);
//   puts(data->description().text().c_str());     // x: mnist.npz:x_train (60000, 28, 28) uint8 0..255, divided by 255
//   std::vector<uint8_t> bytes;
//   Status ok = TrainingData::gather(data->columns[0], indices, type, bytes);
//
// A file's arrays have the names that DataKeys.h lists; the options x and y
// name others. Shapes that would fit with add_channel are refused with that
// option in the message. Rows are read only for their batches
// (sources/ArrayFile.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_TRAININGDATA_H
#define WEFT_TRAINING_TRAININGDATA_H

#include "weft/data/sources/ArrayFile.h"
#include "weft/training/DataScan.h"
#include "weft/training/Ports.h"

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace weft {

enum class DataPurpose { Fit, Evaluate, Predict, Validation };

struct DataOptions {
  std::string data; ///< a file, or a folder of images; empty: none
  /// The arrays, each as [NAME=]FILE.npz:KEY[a:b].
  std::vector<std::string> x = {}, y = {}, sampleWeight = {};
  double divideBy = 1;
  bool addChannel = false;
  bool weightsMayLack = false; ///< samples without weights count once
  SourceOptions source = {};
};

/// An array of the file `data` that no port takes.
struct UnreadArray {
  std::string path, key;
  bool isUnknown = true; ///< no input and no output has that name
  Message reason = {};   ///< of a known one: "; for weft evaluate", or ""
};

class TrainingData {
public:
  struct Column {
    Port port;
    std::string source; ///< f.npz:x_train
    Rows rows;
    Shape sample; ///< shape of one sample, as the port takes it
    /// The number that pads the labels of samples that have fewer than the port
    /// takes; none: no sample has fewer.
    std::optional<double> padding = {};
    int64_t begin = 0; ///< first row: a validation split shares the array
    double divideBy = 1;
    DataScan seen = {}; ///< scan of all rows
  };
  int64_t samples = 0;
  std::vector<Column> columns;
  /// Lines of text on what the file `data` has: texts of columns.
  std::vector<std::string> notes = {};
  std::vector<UnreadArray> unread = {};

  const Column *column(std::string_view port) const;
  /// Copies these rows, one after the other, divided and padded as the column
  /// says and converted to `type`; `out` is resized, so that a loop reuses its
  /// memory. May be called from any thread.
  static Status gather(const Column &column, std::span<const int64_t> indices,
                       ElementType type, std::vector<uint8_t> &out);
  /// A line for each array: name, source, shape, dtype, range, number of NaNs,
  /// divisor and further facts of the source.
  Message description() const;
  /// The last lines of the description: arrays for other purposes, and notes.
  std::vector<Message> remarks() const;
  /// A warning of the unread arrays that no input and no output takes; or
  /// empty.
  std::string unknownArrays() const;
  /// Removes the unread arrays that `other` reads, which has other arrays of
  /// the same files.
  void dropUnread(const TrainingData &other);
  /// What of the arrays changes results, by port: hashes of their values, the
  /// samples that are taken, and how they are converted.
  nlohmann::json settings() const;
  /// A hash that differs from that of other data of the same size.
  uint64_t hash() const;
  /// Splits off Keras' validation_split: the last part, before any shuffle.
  Result<std::pair<TrainingData, TrainingData>> split(double fraction) const;
  /// Sets weights by Keras' class_weight: each sample has the weight of its
  /// label's class, 1 if the class is not listed. Labels are class numbers, or
  /// one-hot.
  Status weighClasses(const std::map<int64_t, double> &weights);
};

/// Weights of 1 for each sample.
TrainingData::Column onesFor(const Port &port, int64_t samples);

/// The path of the file that [NAME=]FILE.npz:KEY[0:9] names.
std::string sourcePath(const std::string &argument);

/// The shape of a sample's weights by the output's NAME or "", from
/// sampleWeight and the arrays of `data`: one number a sample has no
/// dimension, even if the array has (n, 1). Empty if no weights are given.
/// Arrays that cannot be read are left out; selectData reports them.
std::map<std::string, Shape> weightShapes(const DataOptions &options,
                                          DataPurpose purpose);

/// The shape of a sample of each array x, by NAME or "", from `x` and `data`,
/// with the dimension that addChannel adds. Arrays that cannot be read are
/// left out; selectData reports them.
std::map<std::string, Shape> inputShapes(const DataOptions &options);

/// Selects the arrays of a program's ports. `ports`: its input ports; those
/// that are no data are skipped.
Result<TrainingData> selectData(const DataOptions &options, DataPurpose purpose,
                                std::span<const Port> ports);

} // namespace weft

#endif // WEFT_TRAINING_TRAININGDATA_H
