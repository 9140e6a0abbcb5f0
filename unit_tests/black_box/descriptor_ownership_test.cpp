// Clients that close the descriptor in a handle, which is not theirs: whoever the
// kernel gives the number to next must keep it, also where that is the driver itself, for another
// descriptor of the same memory.

#include "unit_tests/black_box/external_memory_calls.h"
#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace causeway::black_box {

namespace {

constexpr size_t size = chunk;

class DescriptorOwnershipTest : public IpcTest {
  protected:
    void SetUp() override {
        IpcTest::SetUp();
        object_ = std::make_unique<MappedObject>(context(), size, Placement::Device, &exportable_);
        fillWhole(object_->base(), size, 3);
        require(getIpcHandleWithProperties(context(), object_->get(), nullptr, &handle_), "export");
    }

    void TearDown() override {
        object_.reset();
        IpcTest::TearDown();
    }

    /// As a client does that takes the number for its own: keeps a copy and closes it.
    Descriptor closeAsAClientDoes() {
        Descriptor copy(fcntl(descriptorOf(handle_), F_DUPFD_CLOEXEC, 100));
        ::close(descriptorOf(handle_));
        return copy;
    }

    void put() { require(putIpcHandle(context(), handle_), "zeMemPutIpcHandle"); }

    [[nodiscard]] ze_ipc_mem_handle_t handle() const { return handle_; }

    MappedObject &object() { return *object_; }

  private:
    ze_external_memory_export_desc_t exportable_ = exportDescriptor();
    std::unique_ptr<MappedObject> object_;
    ze_ipc_mem_handle_t handle_ = {};
};

Descriptor openStranger() {
    return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

bool isOpen(const Descriptor &descriptor) {
    return fcntl(descriptor.get(), F_GETFD) != -1;
}

} // namespace

TEST_F(DescriptorOwnershipTest, FieldCase16_AnImportKeepsTheNumberThatAHandleHad) {
    const Descriptor copy = closeAsAClientDoes();
    const auto chain = importDescriptor(copy.get());
    MappedObject import(context(), size, Placement::Device, &chain);
    put();
    const Descriptor stranger = openStranger();
    EXPECT_EQ(checksumOf(import.base(), size), checksumOf(object().base(), size));
    import.destroy();
    EXPECT_TRUE(isOpen(stranger));
}

TEST_F(DescriptorOwnershipTest, FieldCase16_ACallersNewDescriptorKeepsTheNumberThatAHandleHad) {
    const Descriptor copy = closeAsAClientDoes();
    ze_external_memory_export_fd_t query = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                            nullptr,
                                            ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
                                            -1};
    ze_physical_mem_properties_t properties = {
        ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, &query, 0, 0};
    require(getPhysicalProperties(context(), object().get(), &properties), "properties");
    const Descriptor own(query.fd);
    EXPECT_NE(descriptorOf(handle()), -1);
    put();
    EXPECT_TRUE(isOpen(own));
}

TEST_F(DescriptorOwnershipTest, FieldCase16_AnotherObjectsHandleKeepsTheNumber) {
    const Descriptor copy = closeAsAClientDoes();
    auto *other = allocateFilled(context(), Kind::Device, size);
    ze_ipc_mem_handle_t second = {};
    require(zeMemGetIpcHandle(context(), other, &second), "zeMemGetIpcHandle");
    put();
    Peer peer;
    EXPECT_NE(fcntl(descriptorOf(second), F_GETFD), -1);
    EXPECT_EQ(peer.checksum(peer.open(second), size), checksumOf(other, size));
    require(zeMemFree(context(), other), "zeMemFree");
}

TEST_F(DescriptorOwnershipTest, TheDescriptorInAHandleLeadsBackToIt) {
    const auto before = openDescriptors();
    ze_ipc_mem_handle_t again = {};
    require(getIpcHandleFromDescriptor(
                context(), static_cast<uint64_t>(descriptorOf(handle())), &again),
            "zeMemGetIpcHandleFromFileDescriptorExp");
    EXPECT_TRUE(equalBytes(again, handle()));
    EXPECT_EQ(openDescriptors(), before);
    put();
    EXPECT_EQ(openResult(context(), again), ZE_RESULT_SUCCESS) << "it was got twice";
    put();
    EXPECT_EQ(openResult(context(), again), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(DescriptorOwnershipTest, WhatWasOpenedHereHasNoDescriptorOfItsOwn) {
    const View view(context(), handle());
    int fd = -1;
    EXPECT_EQ(queryDescriptor(context(), view.base(), &fd), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_EQ(fd, -1);
    EXPECT_NE(lastErrorDescription(), "");
    put();
}

TEST_F(DescriptorOwnershipTest, QueriesLeaveTheApplicationDescriptors) {
    constexpr uint64_t many = 100;
    constexpr uint64_t limit = 128; // half for objects, a quarter for those asked about
    Peer peer({.descriptorLimit = limit});
    const uint64_t start = peer.buildRange(many, chunk, 1);
    constexpr uint64_t handles = 10; // they have theirs, which is the query's too
    for (uint64_t i = 0; i < handles; ++i) {
        peer.exportObject(start + i * chunk);
    }
    std::map<ze_result_t, uint64_t> results;
    for (int round = 0; round < 2; ++round) { // what was given once is given again
        results.clear();
        for (uint64_t i = 0; i < many; ++i) {
            ++results[peer.ask({.command = Command::QueryDescriptor, .address = start + i * chunk})
                          .result];
        }
        EXPECT_EQ(results[ZE_RESULT_SUCCESS], limit / 4);
        EXPECT_GT(results[ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY], 0U);
        EXPECT_EQ(results[ZE_RESULT_SUCCESS] + results[ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY] +
                      results[ZE_RESULT_ERROR_UNSUPPORTED_FEATURE],
                  many);
    }
    for (int i = 0; i < 10; ++i) {
        EXPECT_GE(peer.makeDescriptor(DescriptorKind::DevNull), 0);
    }
    peer.destroyRange();
    const uint64_t next = peer.buildRange(1, chunk, 1);
    EXPECT_EQ(peer.ask({.command = Command::QueryDescriptor, .address = next}).result,
              ZE_RESULT_SUCCESS)
        << "those of objects that are gone do not count";
}

} // namespace causeway::black_box
