/*===- HostFunctions.h - numbers of the functions that programs call --------===//
//
// A host_call names its function by a number. Numbers below WEFT_HOST_SEND are
// defined by the program's front end and its host; the others are transfers
// over channels, for StableHLO's send and recv:
//
//   WEFT_HOST_SEND + 5       one operand goes to the host on channel 5
//   WEFT_HOST_RECEIVE + 6    one result comes from it on channel 6; the operand
//                            is ignored
//
//===----------------------------------------------------------------------===*/

#ifndef WEFT_RUNTIME_ABI_HOSTFUNCTIONS_H
#define WEFT_RUNTIME_ABI_HOSTFUNCTIONS_H

#include <stdint.h>

#define WEFT_HOST_CHANNELS (INT64_C(1) << 40)
#define WEFT_HOST_SEND WEFT_HOST_CHANNELS
#define WEFT_HOST_RECEIVE (2 * WEFT_HOST_CHANNELS)

#endif /* WEFT_RUNTIME_ABI_HOSTFUNCTIONS_H */
