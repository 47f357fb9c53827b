# One line for each unit test program: weft_unit_test(<name> SRCS ... LINK ...)
weft_unit_test(layout-test SRCS unit/layout-test.cpp LINK weft::WeftLayout)
weft_unit_test(sharding-rule-test SRCS unit/sharding-rule-test.cpp LINK weft::WeftLayout)
weft_unit_test(resharding-test SRCS unit/resharding-test.cpp LINK weft::WeftResharding)
