#include "shared/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string_view>

namespace causeway {
namespace {

void expectStatus(int error, Status expected) {
    EXPECT_EQ(toString(statusFromErrno(error)), toString(expected)) << "errno " << error;
}

TEST(StatusTest, EveryStatusHasAnotherName) {
    std::set<std::string_view> names;
    constexpr int count = static_cast<int>(Status::Unknown) + 1;
    for (int i = 0; i < count; ++i) {
        names.insert(toString(static_cast<Status>(i)));
    }
    EXPECT_EQ(names.size(), static_cast<size_t>(count));
    EXPECT_FALSE(names.contains(""));
}

TEST(StatusTest, NameIsTheEnumerators) {
    EXPECT_EQ(toString(Status::InvalidArgument), "InvalidArgument");
    EXPECT_EQ(toString(Status::UnsupportedVersion), "UnsupportedVersion");
    EXPECT_EQ(toString(Status::Unknown), "Unknown");
}

TEST(StatusTest, ValueOutsideTheEnumIsUnknown) {
    EXPECT_EQ(toString(static_cast<Status>(200)), "Unknown");
}

TEST(StatusFromErrnoTest, LackOfDescriptorsIsHostMemoryWhateverWasAsked) {
    for (const int error : {EMFILE, ENFILE, ENOBUFS, ETOOMANYREFS}) {
        EXPECT_EQ(statusFromErrno(error, Scarce::Host), Status::OutOfHostMemory) << error;
        EXPECT_EQ(statusFromErrno(error, Scarce::Device), Status::OutOfHostMemory) << error;
    }
}

TEST(StatusFromErrnoTest, LackOfMemoryIsOfWhatWasAsked) {
    for (const int error : {ENOMEM, ENOSPC, EFBIG}) {
        EXPECT_EQ(statusFromErrno(error, Scarce::Host), Status::OutOfHostMemory) << error;
        EXPECT_EQ(statusFromErrno(error, Scarce::Device), Status::OutOfDeviceMemory) << error;
    }
}

TEST(StatusFromErrnoTest, MemoryIsTheHostsUnlessSaidOtherwise) {
    expectStatus(ENOMEM, Status::OutOfHostMemory);
}

TEST(StatusFromErrnoTest, RefusalIsInsufficientPermissions) {
    expectStatus(EPERM, Status::InsufficientPermissions);
    expectStatus(EACCES, Status::InsufficientPermissions);
}

TEST(StatusFromErrnoTest, PassedDeadlineIsNotAvailable) {
    expectStatus(ETIMEDOUT, Status::NotAvailable);
}

TEST(StatusFromErrnoTest, GoneOrWrongPeerIsInvalidArgument) {
    for (const int error : {EINVAL, EBADF, ECONNREFUSED, ECONNRESET, EPIPE, ENOENT, ESRCH}) {
        expectStatus(error, Status::InvalidArgument);
    }
}

TEST(StatusFromErrnoTest, GoneDeviceIsDeviceLost) {
    expectStatus(ENODEV, Status::DeviceLost);
    expectStatus(ECANCELED, Status::DeviceLost);
}

TEST(StatusFromErrnoTest, MissingKernelFeatureIsUnsupported) {
    expectStatus(ENOSYS, Status::UnsupportedFeature);
    expectStatus(EOPNOTSUPP, Status::UnsupportedFeature);
}

TEST(StatusFromErrnoTest, AnythingElseIsUnknown) {
    for (const int error : {0, -1, EIO, 123456}) {
        expectStatus(error, Status::Unknown);
    }
}

} // namespace
} // namespace causeway
