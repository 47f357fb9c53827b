// RUN: weft-opt %s --split-input-file --weft-form-rings --verify-diagnostics

// expected-error @below {{weft.rings is "sometimes"; write "auto", "on" or "off"}}
module attributes {weft.rings = "sometimes"} {
}

// -----

// expected-error @below {{weft.rings is true; write "auto", "on" or "off"}}
module attributes {weft.rings = true} {
}
