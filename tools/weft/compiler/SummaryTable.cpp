#include "weft/tools/weft/compiler/SummaryTable.h"

#include <algorithm>
#include <cmath>

using namespace weft::tool;

namespace {

/// Characters of UTF-8, one string each.
using Text = std::vector<std::string>;

Text charactersOf(const std::string &text) {
  Text out;
  for (char c : text)
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80 && !out.empty())
      out.back() += c;
    else
      out.emplace_back(1, c);
  return out;
}

std::string repeated(const char *text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += text;
  return out;
}

void trimEnd(Text &text) {
  while (!text.empty() && text.back() == " ")
    text.pop_back();
}

/// The positions at which all lines but the first begin: words that did not
/// fit.
std::vector<size_t> breaksOf(const Text &text, int width) {
  std::vector<size_t> out;
  int used = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin; // the end of the word, with blanks around it
    while (end < text.size() && text[end] == " ")
      ++end;
    while (end < text.size() && text[end] != " ")
      ++end;
    int length = int(end - begin);
    while (end < text.size() && text[end] == " ")
      ++end;
    bool fits = width - used >= length;
    if (!fits && begin > 0 && (used > 0 || length > width)) {
      out.push_back(begin);
      used = 0;
    }
    used = fits ? used + int(end - begin) : int(end - begin);
    begin = end;
  }
  return out;
}

std::vector<Text> linesOf(const std::string &cell, int width) {
  Text text = charactersOf(cell);
  std::vector<size_t> borders = breaksOf(text, width);
  borders.insert(borders.begin(), 0);
  borders.push_back(text.size());
  std::vector<Text> lines;
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    Text line(text.begin() + borders[i], text.begin() + borders[i + 1]);
    trimEnd(line);
    if (int(line.size()) > width) {
      line.resize(std::max(width - 1, 0));
      line.emplace_back("…");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string justified(const Text &line, int width, Justify justify) {
  int rest = std::max(width - int(line.size()), 0);
  int before = justify == Justify::Left    ? 0
               : justify == Justify::Right ? rest
                                           : rest / 2;
  std::string out(before, ' ');
  for (const std::string &character : line)
    out += character;
  return out + std::string(rest - before, ' ');
}

/// The widths of columns, from which borders and blanks are subtracted as
/// evenly as possible.
std::vector<int> widthsOf(const std::vector<SummaryColumn> &columns,
                          int lineLength) {
  std::vector<int> out;
  int begin = 0, count = int(columns.size());
  for (const SummaryColumn &column : columns) {
    int end = int(column.end * lineLength);
    out.push_back(end - begin + 2);
    begin = end;
  }
  int excess = -(lineLength - count - 1);
  for (int width : out)
    excess += width;
  for (int i = 0; i < count; ++i) {
    int taken = int(std::nearbyint(double(excess) / (count - i)));
    taken = std::min(taken, out[i]);
    out[i] -= taken;
    excess -= taken;
  }
  return out;
}

class Drawing {
public:
  Drawing(const std::vector<SummaryColumn> &columns [[clang::lifetimebound]],
          int lineLength)
      : columns(columns), widths(widthsOf(columns, lineLength)) {}

  void border(const char *left, const char *line, const char *middle,
              const char *right) {
    out += left;
    for (size_t i = 0; i < widths.size(); ++i)
      out +=
          repeated(line, widths[i]) + (i + 1 < widths.size() ? middle : right);
    out += "\n";
  }

  void row(const std::vector<std::string> &cells, const char *bar) {
    std::vector<std::vector<Text>> lines;
    size_t height = 1;
    for (size_t i = 0; i < cells.size(); ++i) {
      lines.push_back(linesOf(cells[i], widths[i] - 2));
      height = std::max(height, lines.back().size());
    }
    for (size_t line = 0; line < height; ++line) {
      for (size_t i = 0; i < cells.size(); ++i) {
        const Text text = line < lines[i].size() ? lines[i][line] : Text();
        out += std::string(bar) + " " +
               justified(text, widths[i] - 2, columns[i].justify) + " ";
      }
      out += std::string(bar) + "\n";
    }
  }

  const std::vector<SummaryColumn> &columns;
  std::vector<int> widths;
  std::string out;
};

} // namespace

std::string
weft::tool::summaryTable(const std::vector<SummaryColumn> &columns,
                         const std::vector<std::vector<std::string>> &rows,
                         int lineLength) {
  Drawing drawing(columns, lineLength);
  std::vector<std::string> headers;
  for (const SummaryColumn &column : columns)
    headers.push_back(column.header);
  drawing.border("┏", "━", "┳", "┓");
  drawing.row(headers, "┃");
  drawing.border("┡", "━", "╇", "┩");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i)
      drawing.border("├", "─", "┼", "┤");
    drawing.row(rows[i], "│");
  }
  drawing.border("└", "─", "┴", "┘");
  return drawing.out;
}
