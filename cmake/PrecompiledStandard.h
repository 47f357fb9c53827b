#ifndef WEFT_CMAKE_PRECOMPILEDSTANDARD_H
#define WEFT_CMAKE_PRECOMPILEDSTANDARD_H

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#endif // WEFT_CMAKE_PRECOMPILEDSTANDARD_H
