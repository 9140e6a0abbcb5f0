#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace causeway::fakes {

/// What this process holds of the things that a driver can leave behind.
struct ResourceSnapshot {
    std::map<int, std::string> descriptors; ///< number to what /proc/self/fd says it is
    std::vector<std::string> mappings;      ///< of files of ours: their lines of /proc/self/maps
    uint64_t reservedBytes = 0;             ///< anonymous address space without any access
    uint64_t threads = 0;

    [[nodiscard]] static ResourceSnapshot take();
};

/// One line for each thing that is there more, or is not there any more; empty if all is as before.
[[nodiscard]] std::string difference(const ResourceSnapshot &before, const ResourceSnapshot &after);

/// Base of fixtures whose tests must leave nothing. Checked when the test object is destroyed, so
/// after the destructors of a derived fixture's members.
class ResourceCheckedTest : public ::testing::Test {
  public:
    ResourceCheckedTest(const ResourceCheckedTest &) = delete;
    ResourceCheckedTest &operator=(const ResourceCheckedTest &) = delete;
    ~ResourceCheckedTest() override;

  protected:
    ResourceCheckedTest();

    /// For a check within a test: what there is more or less than when it began. Waits a little for
    /// other threads to finish what they are closing.
    [[nodiscard]] std::string leftovers() const;

  private:
    ResourceSnapshot before_;
};

} // namespace causeway::fakes
