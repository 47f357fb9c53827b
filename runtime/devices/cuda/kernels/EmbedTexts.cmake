# cmake -DOUT=FILE.cpp "-DTEXTS=a.ptx;b.ptx" -P EmbedTexts.cmake
# Texts as C++: rows of {name of the file, text}. See KernelTexts.h.
set(rows)
foreach(path ${TEXTS})
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text)
  string(REGEX REPLACE "[ \t]*//[^\n]*" "" text "${text}") # its comments
  string(APPEND rows "    {\"${name}\", R\"ptx(${text})ptx\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"weft/runtime/devices/cuda/KernelTexts.h\"\n
namespace weft::runtime {\n
static constexpr KernelText texts[] = {\n${rows}};\n
std::span<const KernelText> kernelTexts() { return texts; }\n
} // namespace weft::runtime\n")
