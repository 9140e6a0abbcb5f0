#include "source/kmd/soft/object_name.h"

#include <gtest/gtest.h>

namespace causeway::kmd::soft {
namespace {

DeviceUuid someUuid() {
    DeviceUuid uuid = {};
    for (size_t i = 0; i < uuid.size(); ++i) {
        uuid[i] = static_cast<uint8_t>(0x0F + 0x10 * i);
    }
    return uuid;
}

TEST(ObjectNameTest, SaysUuidAndPlacement) {
    EXPECT_EQ(objectName(someUuid(), Placement::Device, false),
              "causeway-object-0f1f2f3f4f5f6f7f8f9fafbfcfdfefff-device");
    EXPECT_EQ(objectName(someUuid(), Placement::Host, true),
              "causeway-bank-0f1f2f3f4f5f6f7f8f9fafbfcfdfefff-host");
}

TEST(ObjectNameTest, IsReadBackFromTheLinkOfADescriptor) {
    for (const Placement placement : {Placement::Device, Placement::Host}) {
        for (const bool bank : {false, true}) {
            const auto name =
                parseObjectName("/memfd:" + objectName(someUuid(), placement, bank) + " (deleted)");
            const ObjectName wanted = {.device = someUuid(), .placement = placement, .bank = bank};
            EXPECT_EQ(name, wanted);
        }
    }
}

TEST(ObjectNameTest, OtherLinksAreNoObjects) {
    const std::string uuid = "0f1f2f3f4f5f6f7f8f9fafbfcfdfefff";
    for (const std::string &link :
         {std::string(),
          std::string("/memfd:"),
          std::string("/memfd:causeway-"),
          std::string("/memfd:causeway-object-"),
          "/memfd:causeway-object-" + uuid,
          "/memfd:causeway-object-" + uuid + "-device",
          "/memfd:causeway-object-" + uuid + "-other (deleted)",
          "/memfd:causeway-object-" + uuid + "-device (deleted) ",
          "/memfd:causeway-object-" + uuid + "0-device (deleted)",
          "/memfd:causeway-object-" + uuid.substr(1) + "-host (deleted)",
          "/memfd:causeway-object-+f" + uuid.substr(2) + "-host (deleted)",
          "/memfd:causeway-object-zz" + uuid.substr(2) + "-host (deleted)",
          "/memfd:causeway-ticket-" + uuid + "-host (deleted)",
          "/memfd:other-object-" + uuid + "-host (deleted)",
          "causeway-object-" + uuid + "-device",
          "/tmp/memfd:causeway-object-" + uuid + "-host (deleted)"}) {
        EXPECT_EQ(parseObjectName(link), std::nullopt) << link;
    }
}

} // namespace
} // namespace causeway::kmd::soft
