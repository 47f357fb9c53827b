// RUN: weft-opt %s --split-input-file --weft-overlap-collectives --verify-diagnostics

// expected-error @below {{weft.overlap is "sometimes"; write "auto", "on" or "off"}}
module attributes {weft.overlap = "sometimes"} {
}

// -----

// expected-error @below {{weft.overlap is true; write "auto", "on" or "off"}}
module attributes {weft.overlap = true} {
}
