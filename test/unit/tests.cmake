# One line for each unit test program: weft_unit_test(<name> SRCS ... LINK ...)
