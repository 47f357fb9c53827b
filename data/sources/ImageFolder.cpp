#include "weft/data/sources/ImageFolder.h"

#include "weft/base/ClosestName.h"
#include "weft/base/Hash.h"
#include "weft/base/MersenneTwister.h"
#include "weft/data/images/DecodeImage.h"
#include "weft/data/images/ResizeImage.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

namespace weft {

namespace fs = std::filesystem;

namespace {

/// The largest file of an image.
constexpr uint64_t kLargestFile = uint64_t(256) << 20;

/// The endings of image files, in upper or lower case, as in Keras.
constexpr std::string_view kEndings[] = {".bmp", ".gif", ".jpeg", ".jpg",
                                         ".png"};

struct Listed {
  std::string path;
  size_t rootSize = 0; ///< length of the root folder at the start of `path`
  int32_t label = 0;
};

using List = std::shared_ptr<const std::vector<Listed>>;

class DecodedImages final : public RowSource {
public:
  DecodedImages(List list, const Shape &sample, const ImageOptions &options,
                std::string remark)
      : RowSource(ElementType::Float32,
                  {int64_t(list->size()), sample[0], sample[1], sample[2]}),
        list(std::move(list)), options(options), said(std::move(remark)) {}

  Status read(std::span<const int64_t> indices, uint8_t *out) const override;
  std::optional<uint64_t> identity() const override {
    std::string text;
    for (const Listed &file : *list) {
      std::error_code none;
      text += file.path.substr(file.rootSize) + " " +
              std::to_string(fs::file_size(file.path, none)) + " " +
              std::to_string(file.label) + "\n";
    }
    return hashBytes(text.data(), text.size());
  }
  int64_t validationRows(double fraction) const override {
    return int64_t(fraction * double(rows()));
  }
  std::string remark() const override { return said; }

private:
  Status readOne(int64_t index, uint8_t *out) const;
  List list;
  ImageOptions options;
  std::string said;
};

Status DecodedImages::readOne(int64_t index, uint8_t *out) const {
  const std::string &path = (*list)[size_t(index)].path;
  Result<std::vector<uint8_t>> bytes = readFile(path, {kLargestFile});
  if (!bytes)
    return bytes.error();
  int channels = int(shape()[3]);
  Result<Image> image = decodeImage(*bytes, channels, path);
  if (!image)
    return image.error();
  std::vector<float> pixels =
      resizeImage(*image, shape()[1], shape()[2], options);
  std::memcpy(out, pixels.data(), rowBytes());
  return {};
}

Status DecodedImages::read(std::span<const int64_t> indices,
                           uint8_t *out) const {
  size_t workers = std::min<size_t>(
      indices.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Status> ends(workers);
  auto work = [&](size_t worker) {
    for (size_t i = worker; i < indices.size() && ends[worker]; i += workers)
      ends[worker] = readOne(indices[i], out + i * rowBytes());
  };
  std::vector<std::thread> threads;
  for (size_t worker = 1; worker < workers; ++worker)
    threads.emplace_back(work, worker);
  if (workers)
    work(0);
  for (std::thread &thread : threads)
    thread.join();
  auto failed = std::find_if(ends.begin(), ends.end(),
                             [](const Status &end) { return !end; });
  return failed == ends.end() ? Status{} : *failed;
}

class ImageFolder final : public ArrayFile {
public:
  ImageFolder(std::string path, List list, std::vector<std::string> classes,
              const ImageOptions &options)
      : ArrayFile(std::move(path)), list(std::move(list)),
        classes(std::move(classes)), options(options) {}
  std::vector<std::string> keys() const override {
    return classes.empty() ? std::vector<std::string>{"x"}
                           : std::vector<std::string>{"x", "y"};
  }
  Message hint() const override {
    return "put the images of each class into a folder of its own";
  }
  Result<Rows> rows(const std::string &key, const Shape &sample) override {
    return key == "x" ? images(sample) : labels(sample);
  }

private:
  Result<Rows> images(const Shape &sample) const {
    bool isImage = sample.size() == 3 && sample[0] > 0 && sample[1] > 0 &&
                   (sample[2] == 1 || sample[2] == 3 || sample[2] == 4);
    if (!isImage)
      return Error{path() +
                   ": is a folder of images, and the model takes "
                   "samples of shape " +
                   text(sample) +
                   "; give a model whose input is (height, width, channels) "
                   "with 1, 3 or 4 channels"};
    std::string remark;
    for (const std::string &name : classes)
      remark += (remark.empty() ? ", classes " : ", ") + name;
    return Rows(std::make_shared<DecodedImages>(list, sample, options, remark));
  }

  /// Labels as numbers of classes, or one-hot rows.
  Result<Rows> labels(const Shape &sample) const {
    auto count = int64_t(list->size()), wide = int64_t(classes.size());
    if (sample != Shape{wide} || wide < 2) {
      Array numbers = Array::zeros(ElementType::Int32, {count});
      for (int64_t i = 0; i < count; ++i)
        numbers.data<int32_t>()[i] = (*list)[size_t(i)].label;
      return Rows(std::make_shared<MemoryRows>(std::move(numbers)));
    }
    Array oneHot = Array::zeros(ElementType::Float32, {count, wide});
    for (int64_t i = 0; i < count; ++i)
      oneHot.data<float>()[i * wide + (*list)[size_t(i)].label] = 1;
    return Rows(std::make_shared<MemoryRows>(std::move(oneHot)));
  }

  List list;
  std::vector<std::string> classes;
  ImageOptions options;
};

Error cannotList(const std::string &folder, const std::error_code &why) {
  return {folder + ": cannot be listed: " + why.message() +
          "; check its permissions"};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return text;
}

/// Names of subfolders, sorted, without hidden ones.
Result<std::vector<std::string>> foldersIn(const std::string &folder) {
  std::error_code error;
  std::vector<std::string> out;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (std::error_code none; fs::is_directory(at->path(), none))
      if (std::string name = at->path().filename(); !name.starts_with("."))
        out.push_back(name);
  if (error)
    return cannotList(folder, error);
  std::sort(out.begin(), out.end());
  return out;
}

/// Lists the images below a folder in Keras' order: by the path of their
/// folder, then by name. Links to folders are not followed.
Status listImages(const std::string &root, const std::string &name,
                  int32_t label, std::vector<Listed> &out) {
  std::map<std::string, std::vector<std::string>> files; // keyed by folder
  std::string folder = name.empty() ? root : root + "/" + name;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error), end;
  for (; !error && at != end; at.increment(error)) {
    std::error_code none;
    std::string kind = lower(at->path().extension());
    bool isImage = std::find(std::begin(kEndings), std::end(kEndings), kind) !=
                   std::end(kEndings);
    if (isImage && !fs::is_directory(at->path(), none))
      files[at->path().parent_path()].push_back(at->path().filename());
  }
  if (error)
    return cannotList(folder, error);
  for (auto &[parent, names] : files) {
    std::sort(names.begin(), names.end());
    for (const std::string &file : names)
      out.push_back({parent + "/" + file, root.size(), label});
  }
  return {};
}

/// Names of the folders that are classes: `classNames` in their order, or all.
Result<std::vector<std::string>> classesOf(const std::string &path,
                                           const ImageOptions &options) {
  Result<std::vector<std::string>> found = foldersIn(path);
  if (!found || options.classNames.empty())
    return found;
  for (const std::string &name : options.classNames)
    if (std::find(found->begin(), found->end(), name) == found->end()) {
      return Error{Option{"class_names"} + ": " + path + " has no folder " +
                   name + "; " +
                   suggestion(name, {found->begin(), found->end()},
                              "name folders in it")};
    }
  return options.classNames;
}

} // namespace

Result<std::unique_ptr<ArrayFile>>
openImageFolder(const std::string &path, const SourceOptions &options) {
  std::string folder = path;
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.pop_back();
  Result<std::vector<std::string>> classes = classesOf(folder, options.images);
  if (!classes)
    return classes.error();
  std::vector<Listed> sorted;
  for (size_t i = 0; i < classes->size(); ++i)
    if (Status ok = listImages(folder, (*classes)[i], int32_t(i), sorted); !ok)
      return ok.error();
  if (classes->empty())
    if (Status ok = listImages(folder, "", 0, sorted); !ok)
      return ok.error();
  if (sorted.empty())
    return Error{path + ": has no image (.jpg, .jpeg, .png, .gif or .bmp); put "
                        "the images of each class into a folder of its own"};
  std::vector<Listed> list;
  if (options.images.seed) {
    MersenneTwister generator = MersenneTwister::numpy(*options.images.seed);
    for (int64_t index : generator.permutation(int64_t(sorted.size())))
      list.push_back(sorted[size_t(index)]);
  } else {
    list = std::move(sorted);
  }
  return std::unique_ptr<ArrayFile>(std::make_unique<ImageFolder>(
      path, std::make_shared<const std::vector<Listed>>(std::move(list)),
      std::move(*classes), options.images));
}

} // namespace weft
