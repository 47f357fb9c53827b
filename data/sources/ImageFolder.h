//===- ImageFolder.h - images in a folder for each class --------*- C++ -*-===//
//
//   // flowers/daisy/1.jpg  flowers/rose/2.png
//   auto folder = openImageFolder("flowers", {});
//   Result<Rows> x = (*folder)->rows("x", {64, 64, 3});   // (2, 64, 64, 3)
//   Result<Rows> y = (*folder)->rows("y", {});            // (2,): 0, 1
//
// Reads a folder like
// keras.utils.image_dataset_from_directory(labels="inferred"): the classes are
// the sorted names of the folders, the files of a class are sorted, and `seed`
// shuffles the list once. The size and the colours (1: grayscale, 3: rgb, 4:
// rgba) are those of the wanted sample; labels are numbers, or one-hot if a
// sample's label has as many numbers as there are classes. Without folders
// there are images only.
//
// Pixels are those of Keras on JAX (PIL's decoding, then keras.ops.image.resize
// in float32). JPEG, PNG, GIF (the first frame) and BMP are read
// (DecodeImage.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_SOURCES_IMAGEFOLDER_H
#define WEFT_DATA_SOURCES_IMAGEFOLDER_H

#include "weft/data/sources/ArrayFile.h"

namespace weft {

Result<std::unique_ptr<ArrayFile>>
openImageFolder(const std::string &path, const SourceOptions &options);

} // namespace weft

#endif // WEFT_DATA_SOURCES_IMAGEFOLDER_H
