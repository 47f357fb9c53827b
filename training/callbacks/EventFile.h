//===- EventFile.h - event files of TensorBoard -----------------*- C++ -*-===//
//
//   auto file = EventFile::create("logs/train");
//   file->scalar("epoch_loss", /*step=*/0, 0.25f);
//   file->histogram("d1/kernel/histogram", 0, *Histogram::of(value));
//   file->flush();
//
// A file of TensorFlow's records, each with the protocol buffer Event:
//
//   8 bytes length, crc32c of these, the bytes, crc32c of these
//
// Checksums are masked: ((crc >> 15) | (crc << 17)) + 0xa282ead8. Values are
// tensors with the plugin's name in their metadata, as tf.summary writes them.
// Public definitions: tensorflow/core/util/event.proto, summary.proto,
// tensor.proto and core/lib/io/record_writer.cc.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_EVENTFILE_H
#define WEFT_TRAINING_CALLBACKS_EVENTFILE_H

#include "weft/base/AtomicFile.h"
#include "weft/training/callbacks/Histogram.h"

namespace weft {

class EventFile {
public:
  /// Creates a file in the folder, which is created if it does not exist.
  static Result<EventFile> create(const std::string &folder);
  void scalar(const std::string &tag, int64_t step, float value);
  void histogram(const std::string &tag, int64_t step, const Histogram &of);
  Status flush();

private:
  void add(const std::string &event);
  GrowingFile file;
  std::string path;
  std::string pending; ///< records that are not in the file yet
};

/// Computes CRC-32C (Castagnoli).
uint32_t crc32c(std::string_view bytes);

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_EVENTFILE_H
