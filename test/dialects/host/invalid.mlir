// RUN: weft-opt %s -split-input-file -verify-diagnostics

#mesh = #weft.mesh<"x"=2>
#group = #weft.layout<#mesh, [{"x"}]>
func.func @call_c1() {
  // expected-error @+1 {{'host.call' op calls function -1; numbers start at 0}}
  host.call -1() in #group : () -> ()
  return
}
