//===- OptionWriter.cpp - options as rows and as JSON ---------------------===//

#include "weft/base/config/OptionWriter.h"

using namespace weft;
using namespace weft::keras;

namespace {

class OptionLister : public Options {
public:
  std::vector<OptionRow> rows;
  std::vector<std::shared_ptr<const Configured>> objects;

  void integer(const char *name, int64_t &value, Range range) override {
    add(name, "integer", value, range);
  }
  void number(const char *name, double &value, Range range) override {
    add(name, "number", value, range);
  }
  void maybeInteger(const char *name, std::optional<int64_t> &value,
                    Range range) override {
    add(name, "integer or null", value ? Json(*value) : Json(), range);
  }
  void maybeNumber(const char *name, std::optional<double> &value,
                   Range range) override {
    add(name, "number or null", value ? Json(*value) : Json(), range);
  }
  void flag(const char *name, bool &value) override {
    add(name, "true or false", value);
  }
  void text(const char *name, std::string &value) override {
    add(name, "text", value);
  }
  void file(const char *name, std::string &value) override {
    add(name, kFile, value);
  }
  void countOr(const char *name, int64_t &value,
               std::vector<std::pair<const char *, int64_t>> words) override {
    std::string type = "positive integer";
    Json shown = value;
    for (const auto &[word, number] : words) {
      type += " or " + std::string(word);
      if (value == number)
        shown = word;
    }
    add(name, type, shown);
  }
  void texts(const char *name, std::vector<std::string> &value) override {
    add(name, "list of texts", value);
  }
  void choice(const char *name, std::string &value,
              std::vector<const char *> words) override {
    add(name, listed({words.begin(), words.end()}), value);
  }
  void maybeChoice(const char *name, std::optional<std::string> &value,
                   std::vector<const char *> words) override {
    add(name, listed({words.begin(), words.end()}) + " or null",
        value ? Json(*value) : Json());
  }
  void sizes(const char *name, std::vector<int64_t> &value,
             size_t count) override {
    add(name,
        count == 1 ? "integer"
                   : "integer or " + std::to_string(count) + " of them",
        value, kPositive);
  }
  void axes(const char *name, std::vector<int64_t> &value) override {
    add(name, "integer or list",
        value.size() == 1 ? Json(value[0]) : Json(value));
  }
  void shape(const char *name, std::vector<int64_t> &value) override {
    add(name, "list of sizes", value);
  }
  void numbers(const char *name, std::vector<double> &value) override {
    add(name, "number or list",
        value.size() == 1 ? Json(value[0]) : Json(value));
  }
  void sides(const char *name, Sides &value, size_t) override {
    add(name, "integer, integers or pairs", value, kNotNegative);
  }
  void argument(const char *name, Argument &, const char *otherwise) override {
    add(name, "value", Json::parse(otherwise));
  }
  void refused(const char *name, const Message &what,
               const char *otherwise) override {
    rows.push_back(
        {name, "", Json::parse(otherwise), OptionStatus::Refused, what.text()});
  }
  void ignored(const char *name, const char *why,
               const char *otherwise) override {
    rows.push_back(
        {name, "", Json::parse(otherwise), OptionStatus::Ignored, why});
  }
  void graph(InnerGraph &value, const AnyTable &table, bool) override {
    add("layers", std::string("list of ") + table.several, Json::array());
    objects.insert(objects.end(), value.members.begin(), value.members.end());
  }
  void policy(const char *, std::optional<Policy> &) override {}
  void check(bool, const Message &) override {}

protected:
  bool isObject(const char *) override { return false; }
  std::shared_ptr<const Configured>
  anyObject(const char *name, std::shared_ptr<const Configured> value,
            const AnyTable &table, const AnyTable *others) override {
    add(name, table.what + (others ? std::string(" or ") + others->what : ""),
        value ? Json(value->className) : Json());
    if (value)
      objects.push_back(value);
    return value;
  }
  std::vector<std::shared_ptr<const Configured>>
  anyObjects(const char *name,
             std::vector<std::shared_ptr<const Configured>> value,
             const AnyTable &table) override {
    add(name, std::string("list of ") + table.several, Json::array());
    objects.insert(objects.end(), value.begin(), value.end());
    return value;
  }
  std::vector<std::shared_ptr<const Configured>>
  anyObjectsByKey(const char *name, std::vector<std::string> &,
                  std::vector<std::shared_ptr<const Configured>> value,
                  const AnyTable &table) override {
    add(name, std::string("dict of ") + table.several, Json::object());
    objects.insert(objects.end(), value.begin(), value.end());
    return value;
  }
  std::shared_ptr<const Configured> anySeed(
      const char *name, std::shared_ptr<const Configured> generator, bool,
      std::shared_ptr<const Configured> (*)(std::optional<int64_t>)) override {
    add(name, "integer or null", nullptr);
    if (generator)
      objects.push_back(generator);
    return generator;
  }

private:
  void add(const char *name, std::string type, Json value,
           Range range = kAnyNumber) {
    std::string remark =
        *range.text ? "must " + std::string(range.text) : std::string();
    rows.push_back({name, std::move(type), std::move(value),
                    OptionStatus::Accepted, std::move(remark)});
  }
};

} // namespace

/// Lists the options. The lister does not change the object, so the const_cast
/// is safe.
static OptionLister visited(const Configured &object) {
  OptionLister lister;
  const_cast<Configured &>(object).options(lister);
  return lister;
}

std::vector<OptionRow> weft::keras::listOptions(const Configured &object) {
  return visited(object).rows;
}

std::vector<std::shared_ptr<const Configured>>
weft::keras::objectsOf(const Configured &object) {
  return visited(object).objects;
}

Json weft::keras::writeOptions(const Configured &object) {
  Json out = Json::object();
  for (const OptionRow &row : listOptions(object))
    out[row.name] = row.value;
  return out;
}
