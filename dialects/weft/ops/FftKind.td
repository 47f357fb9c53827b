//===- FftKind.td - directions of Fourier transforms -------------------------//

#ifndef WEFT_DIALECTS_WEFT_FFTKIND
#define WEFT_DIALECTS_WEFT_FFTKIND

include "mlir/IR/EnumAttr.td"

def Weft_FftKind : I32EnumAttr<"FftKind", "direction, and which side is real", [
    I32EnumAttrCase<"FFT", 0, "fft">, I32EnumAttrCase<"IFFT", 1, "ifft">,
    I32EnumAttrCase<"RFFT", 2, "rfft">, I32EnumAttrCase<"IRFFT", 3, "irfft">]> {
  let cppNamespace = "::weft";
}

#endif // WEFT_DIALECTS_WEFT_FFTKIND
