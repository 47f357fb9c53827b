# The ops behind the contraction get a nest of their own.
s/%0:2 = nest.loops \(.*\) to \[#nest.place<result 0>, #nest.place<result 0>\]/%0 = nest.loops \1 to [#nest.place<result 0>]/
/weft.dot/a\
      nest.store %1 : tensor<250x64xf32>\
    } : tensor<250x64xf32>\
    %9 = nest.loops #nest.elements<dimensions> to [#nest.place<result 0>] {
s/weft.add %1, %2/weft.add %0, %2/
s/nest.store %1, %3 : tensor<250x64xf32>, /nest.store %3 : /
s/} : tensor<250x64xf32>, tensor<250x64xf32>/} : tensor<250x64xf32>/
s/return %0#1/return %9/
