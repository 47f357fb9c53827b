// Compares NcclAbi.h with NCCL's own header: compiling is the test.
#include "catch2/catch.hpp"
#include "weft/runtime/devices/cuda/NcclAbi.h"
#include "weft/test/cuda/SameDeclarations.h"

#include <nccl.h>

#include <cstddef>

using namespace weft;
using namespace weft::nccl;

// A structure that is passed by value is passed alike if sizes are equal.
#define WEFT_NCCL_FUNCTION(name, result, parameters)                           \
  static_assert(test::SameCall<result parameters, decltype(::name)>::value,    \
                #name);
WEFT_NCCL_FUNCTIONS(WEFT_NCCL_FUNCTION)
#undef WEFT_NCCL_FUNCTION

SAME(Status::Success, ncclSuccess);
SAME(Status::UnhandledCudaError, ncclUnhandledCudaError);
SAME(Status::SystemError, ncclSystemError);
SAME(Status::InternalError, ncclInternalError);
SAME(Status::InvalidArgument, ncclInvalidArgument);
SAME(Status::InvalidUsage, ncclInvalidUsage);
SAME(Status::RemoteError, ncclRemoteError);
SAME(Status::InProgress, ncclInProgress);

SAME(Type::I8, ncclInt8);
SAME(Type::U8, ncclUint8);
SAME(Type::I32, ncclInt32);
SAME(Type::U32, ncclUint32);
SAME(Type::I64, ncclInt64);
SAME(Type::U64, ncclUint64);
SAME(Type::F16, ncclFloat16);
SAME(Type::F32, ncclFloat32);
SAME(Type::F64, ncclFloat64);
SAME(Type::BF16, ncclBfloat16);
SAME(Reduction::Sum, ncclSum);
SAME(Reduction::Prod, ncclProd);
SAME(Reduction::Max, ncclMax);
SAME(Reduction::Min, ncclMin);
SAME(kUndefined, NCCL_CONFIG_UNDEF_INT);
SAME(kNoColor, NCCL_SPLIT_NOCOLOR);
SAME(kOldestVersion, NCCL_VERSION(2, 18, 0));

TEST_CASE("own declarations of NCCL are those of nccl.h") {
  STATIC_REQUIRE(sizeof(UniqueId) == sizeof(ncclUniqueId));
  // A later Config has more members after those of 2.18.
  STATIC_REQUIRE(sizeof(Config) <= sizeof(ncclConfig_t));
  STATIC_REQUIRE(offsetof(Config, size) == offsetof(ncclConfig_t, size));
  STATIC_REQUIRE(offsetof(Config, magic) == offsetof(ncclConfig_t, magic));
  STATIC_REQUIRE(offsetof(Config, version) == offsetof(ncclConfig_t, version));
  STATIC_REQUIRE(offsetof(Config, blocking) ==
                 offsetof(ncclConfig_t, blocking));
  STATIC_REQUIRE(offsetof(Config, cgaClusterSize) ==
                 offsetof(ncclConfig_t, cgaClusterSize));
  STATIC_REQUIRE(offsetof(Config, minCtas) == offsetof(ncclConfig_t, minCTAs));
  STATIC_REQUIRE(offsetof(Config, maxCtas) == offsetof(ncclConfig_t, maxCTAs));
  STATIC_REQUIRE(offsetof(Config, netName) == offsetof(ncclConfig_t, netName));
  STATIC_REQUIRE(offsetof(Config, splitShare) ==
                 offsetof(ncclConfig_t, splitShare));
  ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  CHECK(theirs.magic == Config().magic);
}
