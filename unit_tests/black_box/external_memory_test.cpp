// Memory that leaves and enters as a descriptor of the application: physical objects and
// allocations.

#include "unit_tests/black_box/external_memory_calls.h"
#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <set>
#include <vector>

namespace causeway::black_box {

namespace {

constexpr size_t size = 2 * chunk;

bool isSameFile(int left, int right) {
    struct stat a = {};
    struct stat b = {};
    return fstat(left, &a) == 0 && fstat(right, &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

class ExternalMemoryTest : public IpcTest {
  protected:
    /// A new descriptor of the object; -1 where the call fails.
    Descriptor take(ze_physical_mem_handle_t object,
                    ze_external_memory_type_flags_t type = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD) {
        ze_external_memory_export_fd_t query = {
            ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, type, -1};
        properties_ = {ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, &query, 0, 0};
        result_ = getPhysicalProperties(context(), object, &properties_);
        return Descriptor(query.fd);
    }

    ze_result_t tryImport(int fd,
                          size_t bytes,
                          ze_external_memory_type_flags_t type,
                          Placement placement = Placement::Device) {
        const auto chain = importDescriptor(fd, type);
        ze_physical_mem_handle_t object = nullptr;
        const auto result = tryCreateObject(context(), bytes, placement, &object, &chain);
        if (result == ZE_RESULT_SUCCESS) {
            EXPECT_EQ(zePhysicalMemDestroy(context(), object), ZE_RESULT_SUCCESS);
        } else {
            EXPECT_EQ(object, nullptr);
            EXPECT_NE(lastErrorDescription(), "");
        }
        return result;
    }

    ze_result_t tryImport(int fd, size_t bytes = size) {
        return tryImport(fd, bytes, ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD);
    }

    /// Imports, in the peer, the descriptor that was sent to it, and closes that.
    static uint64_t importIn(Peer &peer) {
        const int moved = peer.receiveDescriptor();
        const auto imported = peer.demand({.command = Command::ImportObject,
                                           .flags = static_cast<uint32_t>(Placement::Device),
                                           .size = size,
                                           .value = static_cast<uint64_t>(moved)});
        peer.closeDescriptor(moved);
        return imported.address;
    }

    ze_external_memory_export_desc_t exportable_ = exportDescriptor();
    ze_physical_mem_properties_t properties_ = {};
    ze_result_t result_ = ZE_RESULT_SUCCESS;
};

} // namespace

TEST_F(ExternalMemoryTest, PropertiesTellIdAndSize) {
    std::set<uint64_t> ids;
    for (const auto placement : {Placement::Device, Placement::Host, Placement::Device}) {
        const MappedObject object(context(), size, placement);
        ze_physical_mem_properties_t properties = {
            ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, nullptr, 0, 0};
        ASSERT_EQ(getPhysicalProperties(context(), object.get(), &properties), ZE_RESULT_SUCCESS);
        EXPECT_EQ(properties.size, size);
        EXPECT_NE(properties.id, 0U);
        EXPECT_TRUE(ids.insert(properties.id).second) << "an id came twice";
    }
}

// Each call gives a new descriptor, and the caller closes it.
TEST_F(ExternalMemoryTest, FieldCase14_FieldCase15_EachDescriptorIsNewAndTheCallers) {
    const MappedObject object(context(), size, Placement::Device, &exportable_);
    const auto before = openDescriptors();
    {
        const Descriptor first = take(object.get());
        ASSERT_EQ(result_, ZE_RESULT_SUCCESS);
        const Descriptor second = take(object.get());
        EXPECT_NE(first.get(), second.get());
        EXPECT_TRUE(isSameFile(first.get(), second.get()));
        EXPECT_EQ(fcntl(first.get(), F_GETFD), FD_CLOEXEC);
        EXPECT_EQ(properties_.size, size);
    }
    for (int round = 0; round < 100; ++round) {
        ASSERT_GE(take(object.get()).get(), 0);
    }
    EXPECT_EQ(openDescriptors(), before);
    const int closed = take(object.get()).get(); // closed at the end of the line
    const Descriptor stranger(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(stranger.get(), closed) << "the number was to be used again";
    const Descriptor fresh = take(object.get());
    EXPECT_FALSE(isSameFile(fresh.get(), stranger.get()));
    EXPECT_EQ(tryImport(fresh.get()), ZE_RESULT_SUCCESS);
}

TEST_F(ExternalMemoryTest, FieldCase15_ADescriptorAfterAClosedOneIsTheObjectInEveryProcess) {
    DescriptorChannel channel;
    Peer peer(ChildOptions{.socket = channel.there.get()});
    MappedObject object(context(), size, Placement::Device, &exportable_);
    fillWhole(object.base(), size, 6);
    const int closed = take(object.get()).get();
    const Descriptor stranger(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(stranger.get(), closed) << "the number was to be used again";
    channel.send(take(object.get()).get());
    EXPECT_EQ(peer.checksum(importIn(peer), size), checksumOf(object.base(), size));
}

TEST_F(ExternalMemoryTest, FieldCase51_TheEndOfAnImportLeavesTheExporterAlone) {
    DescriptorChannel channel;
    const ChildOptions withSocket{.socket = channel.there.get()};
    Peer peer(withSocket);
    Peer third(withSocket);
    MappedObject object(context(), size, Placement::Device, &exportable_);
    const Descriptor fd = take(object.get());
    for (uint64_t round = 0; round < 3; ++round) {
        fillWhole(object.base(), size, round);
        channel.send(fd.get());
        const uint64_t there = importIn(peer);
        peer.setWord(there, 100 + round);
        peer.demand({.command = Command::VirtualMemFree, .address = there, .size = size});
        {
            const auto chain = importDescriptor(fd.get());
            MappedObject here(context(), size, Placement::Device, &chain);
            EXPECT_EQ(loadWord(here.base()), 100 + round);
            storeWord(here.base() + 8, 200 + round);
        }
        EXPECT_EQ(loadWord(object.base()), 100 + round);
        EXPECT_EQ(loadWord(object.base() + 8), 200 + round);
        EXPECT_EQ(loadWord(object.base() + chunk), patternWord(round, chunk));
        channel.send(fd.get());
        EXPECT_EQ(third.checksum(importIn(third), size), checksumOf(object.base(), size));
    }
}

TEST_F(ExternalMemoryTest, FieldCase60_AnImportKnowsItsSizeAndItsPlace) {
    for (const auto placement : {Placement::Device, Placement::Host}) {
        const MappedObject object(context(), size, placement, &exportable_);
        const Descriptor fd = take(object.get());
        const auto chain = importDescriptor(fd.get());
        MappedObject import(context(), size, placement, &chain);
        ze_physical_mem_properties_t physical = {
            ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, nullptr, 0, 0};
        ASSERT_EQ(getPhysicalProperties(context(), import.get(), &physical), ZE_RESULT_SUCCESS);
        EXPECT_EQ(physical.size, size);
        void *start = nullptr;
        size_t length = 0;
        require(zeMemGetAddressRange(context(), import.base() + 1, &start, &length), "range");
        EXPECT_EQ(start, import.base());
        EXPECT_EQ(length, size);
        ze_memory_allocation_properties_t properties = {};
        properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
        require(zeMemGetAllocProperties(context(), import.base(), &properties, nullptr), "type");
        EXPECT_EQ(properties.type,
                  placement == Placement::Host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE);
        EXPECT_NE(properties.id, 0U);
    }
}

TEST_F(ExternalMemoryTest, FieldCase52_AnImportIsTheSameMemoryInEveryProcess) {
    for (const auto placement : {Placement::Device, Placement::Host}) {
        DescriptorChannel channel;
        Peer peer(ChildOptions{.socket = channel.there.get()});
        uint64_t there = 0;
        {
            MappedObject object(context(), size, placement, &exportable_);
            fillWhole(object.base(), size, 7);
            const Descriptor fd = take(object.get());
            channel.send(fd.get());
            const int moved = peer.receiveDescriptor();
            there = peer.demand({.command = Command::ImportObject,
                                 .flags = static_cast<uint32_t>(placement),
                                 .size = size,
                                 .value = static_cast<uint64_t>(moved)})
                        .address;
            peer.closeDescriptor(moved);
            EXPECT_EQ(peer.checksum(there, size), checksumOf(object.base(), size));
            peer.setWord(there + chunk, 4711);
            EXPECT_EQ(loadWord(object.base() + chunk), 4711U);
        }
        EXPECT_EQ(peer.word(there + chunk), 4711U) << "it lives while it is mapped there";
    }
}

// Nothing depends on the application's descriptor, and nobody closes it.
TEST_F(ExternalMemoryTest, FieldCase17_FieldCase18_TheCallersDescriptorIsNeitherNeededNorClosed) {
    MappedObject object(context(), size, Placement::Device, &exportable_);
    fillWhole(object.base(), size, 8);
    Descriptor fd = take(object.get());
    const auto chain = importDescriptor(fd.get());
    MappedObject kept(context(), size, Placement::Device, &chain);
    {
        const MappedObject dropped(context(), size, Placement::Device, &chain);
    }
    EXPECT_NE(fcntl(fd.get(), F_GETFD), -1);
    MappedObject third(context(), size, Placement::Device, &chain);
    fd.reset();
    EXPECT_EQ(checksumOf(kept.base(), size), checksumOf(object.base(), size));
    storeWord(third.base(), 99);
    EXPECT_EQ(loadWord(object.base()), 99U);
}

// A failing import loses nothing.
TEST_F(ExternalMemoryTest, FieldCase19_FieldCase61_AWrongImportLeavesTheDescriptorAlone) {
    const MappedObject object(context(), size, Placement::Device, &exportable_);
    const Descriptor fd = take(object.get());
    const auto before = openDescriptors();
    EXPECT_EQ(tryImport(fd.get(), 2 * size), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(tryImport(fd.get(), 100), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(tryImport(fd.get(), size, 0, Placement::Host), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    for (const uint32_t type : {uint32_t{ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF},
                                uint32_t{ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32}}) {
        EXPECT_EQ(tryImport(fd.get(), size, type), ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    }
    EXPECT_EQ(openDescriptors(), before);
    EXPECT_EQ(tryImport(fd.get(), chunk), ZE_RESULT_SUCCESS);
    EXPECT_EQ(tryImport(fd.get(), size, 0), ZE_RESULT_SUCCESS);
    EXPECT_EQ(openDescriptors(), before);
}

TEST_F(ExternalMemoryTest, OtherFilesAreRefused) {
    std::array<int, 2> ends = {-1, -1};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    const Descriptor readEnd(ends[0]);
    const Descriptor writeEnd(ends[1]);
    const Descriptor null(::open("/dev/zero", O_RDWR | O_CLOEXEC));
    const Descriptor memory(memfd_create("stranger", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(memory.get(), size), 0);
    ASSERT_EQ(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    const auto before = openDescriptors();
    for (const int fd : {-1, 9999, null.get(), readEnd.get(), writeEnd.get(), memory.get()}) {
        EXPECT_EQ(tryImport(fd), ZE_RESULT_ERROR_INVALID_ARGUMENT) << fd;
        const auto chain = importDescriptor(fd);
        void *ptr = nullptr;
        EXPECT_EQ(tryAllocate(context(), Kind::Device, size, 0, &ptr, &chain),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT)
            << fd;
        EXPECT_EQ(ptr, nullptr);
    }
    EXPECT_EQ(openDescriptors(), before);
}

// A file's name is not proof: one that calls itself an object but can change its size is none.
TEST_F(ExternalMemoryTest, AForgedObjectIsRefused) {
    const MappedObject object(context(), size, Placement::Device, &exportable_);
    const Descriptor real = take(object.get());
    std::array<char, 256> link = {};
    const auto path = "/proc/self/fd/" + std::to_string(real.get());
    ASSERT_GT(readlink(path.c_str(), link.data(), link.size() - 1), 0);
    std::string name(link.data()); // "/memfd:<name> (deleted)"
    name = name.substr(name.find(':') + 1);
    name = name.substr(0, name.find(" (deleted)"));
    const Descriptor forged(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(forged.get(), size), 0);
    EXPECT_EQ(tryImport(forged.get()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(ExternalMemoryTest, ExportableObjectsTakeFilesUpToTheLimit_LastDescriptor) {
    Peer peer({.descriptorLimit = 64});
    const auto reply =
        peer.ask({.command = Command::CountObjects, .flags = 1, .size = chunk, .value = 1000});
    EXPECT_EQ(reply.result, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY) << reply.text.data();
    EXPECT_GT(reply.value, 30U) << "more than half of the limit, as was asked for";
    EXPECT_LT(reply.value, 64U);
    EXPECT_EQ(peer.ask({.command = Command::CountObjects, .size = chunk, .value = 1000}).result,
              ZE_RESULT_SUCCESS);
}

TEST_F(ExternalMemoryTest, ImportsAreSharedOnAsARange) {
    MappedObject first(context(), size, Placement::Device, &exportable_);
    MappedObject second(context(), size, Placement::Device, &exportable_);
    fillWhole(first.base(), size, 1);
    fillWhole(second.base(), size, 2);
    const Descriptor fd1 = take(first.get());
    const Descriptor fd2 = take(second.get());
    const auto chain1 = importDescriptor(fd1.get());
    const auto chain2 = importDescriptor(fd2.get());
    const MappedObject import1(context(), size, Placement::Device, &chain1);
    const MappedObject import2(context(), size, Placement::Device, &chain2);
    auto *base = reserveAdjacent(context(), {2 * size}).front();
    const auto map = [&](const MappedObject &object, size_t at) {
        require(
            zeVirtualMemMap(
                context(), base + at, size, object.get(), 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            "zeVirtualMemMap");
    };
    map(import2, 0);
    map(import1, size);
    const auto handle = exportRange(context(), base, 2 * size);
    Peer peer;
    const auto view = peer.open(handle);
    EXPECT_EQ(peer.checksum(view, size), checksumOf(second.base(), size));
    EXPECT_EQ(peer.checksum(view + size, size), checksumOf(first.base(), size));
    const Descriptor again = take(import1.get());
    EXPECT_TRUE(isSameFile(again.get(), fd1.get()));
    EXPECT_EQ(peer.close(view), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeVirtualMemFree(context(), base, 2 * size), ZE_RESULT_SUCCESS);
}

namespace {

class ExternalAllocationTest : public ExternalMemoryTest,
                               public testing::WithParamInterface<Kind> {};

} // namespace

// What UMF does: allocate exportable, query the descriptor, pass it on, import it.
TEST_P(ExternalAllocationTest, IsTheSameMemoryInEveryProcess) {
    constexpr size_t odd = size - 100;
    auto *base = allocateFilled(context(), GetParam(), odd, &exportable_);
    int fd = -1;
    require(queryDescriptor(context(), base, &fd), "query of a descriptor");
    const auto chain = importDescriptor(fd);
    void *here = nullptr;
    require(tryAllocate(context(), GetParam(), odd, 0, &here, &chain), "import of an allocation");
    EXPECT_NE(here, base);
    EXPECT_EQ(checksumOf(here, odd), checksumOf(base, odd));
    ze_memory_allocation_properties_t properties = {
        ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, nullptr, {}, 0, 0};
    require(zeMemGetAllocProperties(context(), here, &properties, nullptr), "properties");
    EXPECT_EQ(properties.type,
              GetParam() == Kind::Host ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE);
    void *start = nullptr;
    size_t length = 0;
    require(zeMemGetAddressRange(context(), here, &start, &length), "zeMemGetAddressRange");
    EXPECT_EQ(start, here);
    EXPECT_EQ(length, odd);

    DescriptorChannel channel;
    Peer peer(ChildOptions{.socket = channel.there.get()});
    channel.send(fd);
    const int moved = peer.receiveDescriptor();
    const uint64_t there = peer.demand({.command = Command::ImportAllocation,
                                        .flags = static_cast<uint32_t>(GetParam()),
                                        .size = odd,
                                        .value = static_cast<uint64_t>(moved)})
                               .address;
    peer.closeDescriptor(moved);
    EXPECT_EQ(peer.checksum(there, odd), checksumOf(base, odd));
    require(zeMemFree(context(), base), "zeMemFree");
    peer.setWord(there, 12345);
    EXPECT_EQ(loadWord(static_cast<std::byte *>(here)), 12345U);
    const auto handle = peer.exportObject(there); // what was imported is shared like any other
    const View view(context(), handle);
    EXPECT_EQ(loadWord(view.base()), 12345U);
    require(zeMemFree(context(), here), "zeMemFree");
}

TEST_P(ExternalAllocationTest, LargerOrElsewhereIsRefused) {
    auto *base = allocateFilled(context(), GetParam(), size, &exportable_);
    int fd = -1;
    require(queryDescriptor(context(), base, &fd), "query of a descriptor");
    const auto chain = importDescriptor(fd);
    const auto before = openDescriptors();
    void *ptr = nullptr;
    EXPECT_EQ(tryAllocate(context(), GetParam(), size + 1, 0, &ptr, &chain),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const auto elsewhere = GetParam() == Kind::Host ? Kind::Device : Kind::Host;
    EXPECT_EQ(tryAllocate(context(), elsewhere, size, 0, &ptr, &chain),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(tryAllocate(context(), GetParam(), 0, 0, &ptr, &chain),
              ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_EQ(tryAllocate(context(), Kind::Shared, size, 0, &ptr, &chain),
              ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    EXPECT_EQ(ptr, nullptr);
    EXPECT_EQ(openDescriptors(), before);
    require(zeMemFree(context(), base), "zeMemFree");
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         ExternalAllocationTest,
                         testing::Values(Kind::Device, Kind::Host),
                         kindName);

} // namespace causeway::black_box
