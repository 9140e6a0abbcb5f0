// Handles of single objects: which descriptor they carry, and the ways to open them.

#include "unit_tests/fakes/forwarding_os.h"
#include "unit_tests/source/ipc/rollback_fixture.h"
#include "unit_tests/source/ipc/test_backing.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace causeway::ipc {
namespace {

class ObjectExportTest : public RollbackFixture {
  protected:
    [[nodiscard]] static uint64_t allocate(Peer &peer, uint64_t bytes) {
        const uint64_t va = must(peer.memory->allocate({.kind = memory::AllocationKind::Device,
                                                        .device = &peer.device(),
                                                        .sizeBytes = bytes,
                                                        .alignment = 0}));
        for (uint64_t i = 0; i < bytes; i += 97) {
            bytesAt(va + i, 1)[0] = static_cast<std::byte>(i);
        }
        return va;
    }

    [[nodiscard]] wire::HandleBytes share() { return must(exporter_.shareObject(va_)); }

    /// From now on nobody can be talked to.
    static void disconnect(Peer &peer) {
        peer.faults.failKind(fakes::OsCall::ConnectAbstract, EACCES);
        peer.faults.failKind(fakes::OsCall::FetchDescriptor, EPERM);
    }

    void expectOpens(Peer &peer, const wire::HandleBytes &handle) {
        const uint64_t va = must(peer.open(handle));
        EXPECT_TRUE(sameBytes(va, va_, sizeBytes));
        peer.close(va);
    }

    static constexpr uint64_t sizeBytes = devicePage + 5;

    Peer exporter_{configOf(GetParam())};
    Peer importer_;
    const uint64_t va_ = allocate(exporter_, sizeBytes);
};

INSTANTIATE_TEST_SUITE_P(Placings,
                         ObjectExportTest,
                         testing::Values(Placing::OwnFiles, Placing::Banks),
                         nameOf);

TEST_P(ObjectExportTest, TheDescriptorIsTheObjectsFileOrATicket) {
    const int fd = decoded(share()).fd;
    if (GetParam() == Placing::OwnFiles) {
        const auto found = must(exporter_.backend.identify(must(duplicateForeign(linuxOs(), fd))));
        EXPECT_GE(found.info.sizeBytes, sizeBytes);
        EXPECT_EQ(found.info.owner, exporter_.device().properties().uuid);
    } else {
        EXPECT_TRUE(failsWith(exporter_.backend.identify(must(duplicateForeign(linuxOs(), fd))),
                              Status::InvalidArgument));
        EXPECT_TRUE(looksLikeTicket(linuxOs(), fd));
    }
}

TEST_P(ObjectExportTest, TheFileOpensWithoutTheExporter) {
    const auto handle = share();
    disconnect(importer_);
    if (GetParam() == Placing::OwnFiles) {
        expectOpens(importer_, handle);
        expectOpens(importer_, onlyDescriptor(decoded(handle).fd));
    } else {
        EXPECT_TRUE(failsWith(importer_.open(handle), Status::InsufficientPermissions));
    }
}

TEST_P(ObjectExportTest, AnyOtherDescriptorMeansAskingTheExporter) {
    const UniqueFd other = objectFile(2 * sizeBytes);
    wire::IpcHandle handle = decoded(share());
    for (const int fd : {-1, other.get(), 1'000'000}) {
        handle.fd = fd;
        expectOpens(importer_, wire::encodeHandle(handle));
    }
}

TEST_P(ObjectExportTest, AHandleThatPromisesMoreThanItsFileHasIsRefused) {
    wire::IpcHandle handle = decoded(share());
    handle.sizeBytes = uint64_t{1} << 40;
    EXPECT_TRUE(failsWith(importer_.open(wire::encodeHandle(handle)), Status::InvalidArgument));
    EXPECT_TRUE(failsWith(exporter_.open(wire::encodeHandle(handle)), Status::InvalidArgument));
}

TEST_P(ObjectExportTest, AFileThatOnlyBearsTheNameIsRefused) {
    const auto name = linuxOs().fileName(exporter_.memory->snapshotObject(va_)
                                             ->pieces[0]
                                             .object->backing()
                                             ->exportDescriptor({})
                                             ->get());
    ASSERT_TRUE(name);
    const std::string own = name->substr(7, name->find(' ') - 7); // of "/memfd:name (deleted)"
    const UniqueFd forged = std::move(linuxOs().memfdCreate(own, MFD_ALLOW_SEALING).value());
    linuxOs().truncate(forged.get(), devicePage).value();
    EXPECT_TRUE(failsWith(importer_.open(onlyDescriptor(forged.get())), Status::InvalidArgument));
}

TEST_P(ObjectExportTest, AViewByDescriptorIsSharedAnewThroughTheFirstExporter) {
    Peer third;
    const uint64_t view = must(importer_.open(share()));
    const auto again = must(importer_.shareObject(view));
    expectOpens(third, again);
    importer_.close(view);
}

/// A system in which the application makes the number of a descriptor a socket as soon as its name
/// was read.
class ChangingOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    OsResult<std::string> fileName(int fd) override {
        auto name = os_.fileName(fd);
        if (number >= 0) {
            EXPECT_EQ(::dup3(becomes, number, O_CLOEXEC), number);
        }
        return name;
    }

    int number = -1;
    int becomes = -1;
};

TEST_P(ObjectExportTest, ADescriptorThatChangesMeanwhileIsOpenedAsItWas) {
    const UniqueFd moved = std::move(linuxOs().duplicate(decoded(share()).fd).value());
    const UniqueFd stranger(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ChangingOs os(linuxOs());
    kmd::soft::SoftBackend backend(os, {});
    IpcService service(os, backend, {});
    const auto memory = must(memory::MemoryManager::create(backend, osPage));
    os.number = moved.get();
    os.becomes = stranger.get();
    const auto first = service.open(*memory, *backend.devices()[0], onlyDescriptor(moved.get()));
    ASSERT_TRUE(succeeds(first));
    EXPECT_TRUE(sameBytes(*first, va_, sizeBytes));
    EXPECT_TRUE(failsWith(service.open(*memory, *backend.devices()[0], onlyDescriptor(moved.get())),
                          Status::InvalidArgument));
    must(memory->closeImport(*first));
}

TEST_P(ObjectExportTest, AViewByADescriptorAloneIsNotSharedAnew) {
    const auto handle = onlyDescriptor(decoded(share()).fd);
    const uint64_t view = must(importer_.open(handle));
    if (GetParam() == Placing::OwnFiles) {
        EXPECT_TRUE(failsWith(
            importer_.shareObject(view), Status::UnsupportedFeature, "by a descriptor alone"));
        EXPECT_TRUE(failsWith(importer_.share(view + 5, 10), Status::UnsupportedFeature));
    } else { // the ticket told where it came from
        Peer third;
        expectOpens(third, must(importer_.shareObject(view)));
    }
    EXPECT_TRUE(sameBytes(view, va_, sizeBytes));
    importer_.close(view);
}

TEST_P(ObjectExportTest, FreeingRevokesByTheIdAndNotByTheAddress) {
    const auto handle = share();
    const uint64_t id = exporter_.memory->pointerInfo(va_).id;
    exporter_.service.revokeObject(*exporter_.memory, va_, id + 1);
    EXPECT_EQ(exporter_.service.liveExports(), 1U);
    exporter_.service.revokeObject(*importer_.memory, va_, id);
    EXPECT_EQ(exporter_.service.liveExports(), 1U);
    exporter_.service.revokeObject(*exporter_.memory, va_, id);
    EXPECT_EQ(exporter_.service.liveExports(), 0U);
    EXPECT_TRUE(failsWith(exporter_.open(handle), Status::InvalidArgument));
}

TEST_P(ObjectExportTest, AnExportThatFailsAtAnyCallLeavesNothing) {
    exporter_.put(share()); // the server runs
    settle(1);
    const auto get = [&] { return exporter_.shareObject(va_); };
    const auto put = [&](const wire::HandleBytes &handle) {
        expectOpens(exporter_, handle);
        exporter_.put(handle);
    };
    EXPECT_GE(sweep<wire::HandleBytes>(exporter_, EMFILE, get, put), 3U);
}

TEST_P(ObjectExportTest, AnOpenThatFailsAtAnyCallLeavesNothing) {
    const auto handle = share();
    expectOpens(importer_, handle);
    settle(1);
    for (const auto &bytes : {handle, onlyDescriptor(decoded(handle).fd)}) {
        const auto open = [&] { return importer_.open(bytes); };
        const auto compareAndClose = [&](uint64_t va) {
            EXPECT_TRUE(sameBytes(va, va_, sizeBytes));
            importer_.close(va);
        };
        EXPECT_GE(sweep<uint64_t>(importer_, ENOMEM, open, compareAndClose), 4U);
    }
}

} // namespace
} // namespace causeway::ipc
