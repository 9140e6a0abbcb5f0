#include "unit_tests/black_box/confinement.h"
#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/server_names.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// Every way of opening, with the others made impossible. What must never happen is that an
/// importer gets something else than the exporter's memory.
namespace causeway::black_box {
namespace {

namespace fs = std::filesystem;

constexpr const char *noDescriptors = "deny:pidfd_getfd=EPERM";
constexpr const char *noNames = "network";
constexpr const char *neither = "network,deny:pidfd_getfd=EPERM";

/// This process forbids to be traced while there is one.
class Untraceable {
  public:
    Untraceable() { prctl(PR_SET_DUMPABLE, 0); }

    ~Untraceable() { prctl(PR_SET_DUMPABLE, before_); }

    Untraceable(const Untraceable &) = delete;
    Untraceable &operator=(const Untraceable &) = delete;
    Untraceable(Untraceable &&) = delete;
    Untraceable &operator=(Untraceable &&) = delete;

  private:
    int before_ = prctl(PR_GET_DUMPABLE);
};

/// A folder as pods share one: everybody may write.
class SharedFolder {
  public:
    SharedFolder() {
        std::string path = fs::temp_directory_path() / "causeway-test-XXXXXX";
        if (mkdtemp(path.data()) == nullptr) {
            throw HarnessError("mkdtemp");
        }
        path_ = path;
        chmod(path_.c_str(), 0777);
    }

    ~SharedFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }

    SharedFolder(const SharedFolder &) = delete;
    SharedFolder &operator=(const SharedFolder &) = delete;
    SharedFolder(SharedFolder &&) = delete;
    SharedFolder &operator=(SharedFolder &&) = delete;

    [[nodiscard]] const fs::path &path() const { return path_; }

    [[nodiscard]] fs::path ours() const { return path_ / std::to_string(geteuid()); }

    [[nodiscard]] std::string variable() const { return "CAUSEWAY_IPC_DIR=" + path_.string(); }

    [[nodiscard]] std::vector<std::string> sockets() const {
        std::vector<std::string> names;
        for (const auto &entry : fs::recursive_directory_iterator(path_)) {
            if (entry.is_socket()) {
                names.push_back(entry.path().filename());
            }
        }
        return names;
    }

  private:
    fs::path path_;
};

class TransportTest : public testing::Test {
  protected:
    static constexpr uint64_t objects = 3;
    static constexpr uint64_t firstObject = 50;
    static constexpr size_t size = objects * chunk;

    void SetUp() override {
        if (const char *reason = whyNotConfine()) {
            GTEST_SKIP() << reason;
        }
    }

    static ze_ipc_mem_handle_t shareFrom(Peer &exporter) {
        return exporter.exportRange(exporter.buildRange(objects, chunk, firstObject), size);
    }

    static void expectOpens(Peer &importer, const ze_ipc_mem_handle_t &handle) {
        const Reply opened = importer.tryOpen(handle);
        ASSERT_EQ(opened.result, ZE_RESULT_SUCCESS) << opened.text.data();
        EXPECT_EQ(importer.goodEnds(opened.address, chunk, objects, firstObject), objects);
        EXPECT_EQ(importer.close(opened.address), ZE_RESULT_SUCCESS);
    }

    /// Refused, with the same sentence for the same try, and nothing kept.
    static void expectRefuses(Peer &importer,
                              const ze_ipc_mem_handle_t &handle,
                              ze_result_t result = ZE_RESULT_ERROR_INVALID_ARGUMENT) {
        importer.tryOpen(handle);
        const auto before = importer.descriptors();
        const auto mappings = importer.memoryFileMappings();
        const Reply refused = importer.tryOpen(handle);
        EXPECT_EQ(refused.result, result) << refused.text.data();
        EXPECT_NE(refused.text[0], '\0');
        EXPECT_TRUE(eventually([&] { return importer.descriptors() == before; }));
        EXPECT_EQ(importer.memoryFileMappings(), mappings);
    }
};

TEST_F(TransportTest, FieldCase27_FieldCase32_TheNamedSocketIsEnough) {
    Peer exporter;
    const auto handle = shareFrom(exporter);
    for (const char *confinement : {noDescriptors,
                                    "deny:pidfd_getfd=ENOSYS,deny:pidfd_open=ENOSYS",
                                    "deny:pidfd_getfd=EPERM,deny:pidfd_open=EPERM",
                                    "pids"}) {
        Peer importer({.confinement = confinement});
        expectOpens(importer, handle);
    }
}

TEST_F(TransportTest, FieldCase32_TheExtensionIsListedWithoutPidfd) {
    constexpr const char *oldKernel = "deny:pidfd_getfd=ENOSYS,deny:pidfd_open=ENOSYS";
    Peer exporter({.confinement = oldKernel});
    Peer importer({.confinement = oldKernel});
    for (Peer *peer : {&exporter, &importer}) {
        EXPECT_NE(peer->demand({.command = Command::Capabilities}).value, 0U);
    }
    expectOpens(importer, shareFrom(exporter));
}

/// Two children of one launcher, which a ptrace_scope of 1 keeps apart as the denial does. The
/// exporter has forbidden to be traced, and still does afterwards.
TEST_F(TransportTest, FieldCase28_SiblingsShareAndStayUntraceable) {
    Peer exporter;
    const auto theirs = shareFrom(exporter);
    const Untraceable untraceable;
    const Context context;
    const Range range(context.get(), manyPieces(objects), {.firstObject = firstObject});
    const auto ours = range.exportWhole();
    EXPECT_EQ(openResult(context.get(), theirs), ZE_RESULT_SUCCESS);
    for (const char *confinement : {"", noDescriptors}) {
        Peer sibling({.confinement = confinement});
        expectOpens(sibling, theirs);
        expectOpens(sibling, ours);
    }
    EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
}

/// There is no such variable: each open takes the first way that leads on.
TEST_F(TransportTest, FieldCase30_NoVariableChoosesTheWay) {
    for (const std::string_view wish : {"sockets", "drmfd", "nonsense", ""}) {
        const std::vector<std::string> environment = {"CAUSEWAY_IPC_TRANSPORT=" +
                                                      std::string(wish)};
        Peer exporter({.environment = environment});
        Peer importer({.environment = environment, .confinement = noDescriptors});
        expectOpens(importer, shareFrom(exporter));
    }
}

TEST_F(TransportTest, TheSharedFolderIsEnough) {
    const SharedFolder folder;
    Peer exporter({.environment = {folder.variable()}});
    const auto handle = shareFrom(exporter);
    EXPECT_EQ(folder.sockets(), std::vector{serverIdOf(handle)});
    for (const std::string confinement : {"", ",pids"}) {
        Peer importer({.environment = {folder.variable()}, .confinement = neither + confinement});
        expectOpens(importer, handle);
    }
}

TEST_F(TransportTest, TheExportersDescriptorsAreEnough) {
    Peer exporter;
    const auto handle = shareFrom(exporter);
    Peer importer({.confinement = noNames});
    expectOpens(importer, handle);
}

TEST_F(TransportTest, AnExporterInANetworkNamespaceOfItsOwnIsReached) {
    const SharedFolder folder;
    Peer exporter({.environment = {folder.variable()}, .confinement = noNames});
    const auto handle = shareFrom(exporter);
    Peer byFolder({.environment = {folder.variable()}, .confinement = noDescriptors});
    expectOpens(byFolder, handle);
    Peer byDescriptors;
    expectOpens(byDescriptors, handle);
}

TEST_F(TransportTest, AManyMessagesLongRangeComesOnEachWay) {
    const SharedFolder folder;
    constexpr uint64_t many = 600;
    Peer exporter(
        {.environment = {folder.variable(), "CAUSEWAY_SOFT_DEDICATED=1"}, .descriptorLimit = 4096});
    const auto handle =
        exporter.exportRange(exporter.buildRange(many, chunk, firstObject), many * chunk);
    Peer byFolder({.environment = {folder.variable()}, .confinement = neither});
    Peer byDescriptors({.confinement = noNames});
    for (Peer *importer : {&byFolder, &byDescriptors}) {
        const auto base = importer->open(handle);
        EXPECT_EQ(importer->goodEnds(base, chunk, many, firstObject), many);
    }
}

TEST_F(TransportTest, WithoutAnyWayEachIsNamedWithItsReason) {
    Peer exporter;
    const auto handle = shareFrom(exporter);
    Peer importer({.environment = {"CAUSEWAY_IPC_DIR=/nowhere"}, .confinement = neither});
    expectRefuses(importer, handle);
    const std::string text = importer.tryOpen(handle).text.data();
    EXPECT_NE(text.find("abstract socket: "), std::string::npos) << text;
    EXPECT_NE(text.find("CAUSEWAY_IPC_DIR: opening /nowhere: No such"), std::string::npos) << text;
    EXPECT_NE(text.find("Operation not permitted"), std::string::npos) << text;
}

TEST_F(TransportTest, AMovedDescriptorOfOneObjectIsEnough) {
    const DescriptorChannel channel;
    const Context context;
    const Range range(context.get(), manyPieces(1), {.firstObject = firstObject});
    ze_ipc_mem_handle_t handle = {};
    require(zeMemGetIpcHandle(context.get(), range.base(), &handle), "zeMemGetIpcHandle");
    Peer importer({.confinement = neither, .socket = channel.there.get()});
    channel.send(descriptorOf(handle));
    const int moved = importer.receiveDescriptor();
    for (const auto &patched :
         {withDescriptor(handle, moved), withZeroRest(withDescriptor(handle, moved))}) {
        const auto base = importer.open(patched);
        EXPECT_EQ(importer.goodEnds(base, chunk, 1, firstObject), 1U);
        importer.close(base);
    }
    importer.closeDescriptor(moved);
    expectRefuses(importer, handle);
}

/// The ticket in a range's handle holds the handle: it leads on to the exporter, if any way does.
TEST_F(TransportTest, AMovedTicketIsEnoughWhereAWayLeadsOn) {
    const Context context;
    const Range range(context.get(), manyPieces(objects), {.firstObject = firstObject});
    const auto handle = range.exportWhole();
    for (const bool leadsOn : {true, false}) {
        const DescriptorChannel channel;
        Peer importer({.confinement = leadsOn ? noNames : neither, .socket = channel.there.get()});
        channel.send(descriptorOf(handle));
        const auto patched = withZeroRest(withDescriptor(handle, importer.receiveDescriptor()));
        if (leadsOn) {
            expectOpens(importer, patched);
        } else {
            expectRefuses(importer, patched);
        }
    }
}

/// In its own namespace the exporter is process 1: everywhere else that number is another process,
/// and here one with the same descriptor numbers, since it has shared something too.
TEST_F(TransportTest, FieldCase29_AProcessNumberThatMeansAnotherProcessIsAnError) {
    Peer exporter({.confinement = "pids"});
    const auto handle = shareFrom(exporter);
    Peer inNamespace({.confinement = "network,pids"}); // is process 1 itself
    shareFrom(inNamespace);
    expectRefuses(inNamespace, handle);
    Peer outside({.confinement = noNames});
    expectRefuses(outside, handle);
}

TEST_F(TransportTest, ASquatterOfTheNameIsPassedBy) {
    Peer exporter;
    const auto handle = shareFrom(exporter);
    for (const Squatter kind :
         {Squatter::Closes, Squatter::SendsGarbage, Squatter::IsAnotherUser}) {
        SCOPED_TRACE(static_cast<int>(kind));
        const Request squat = {
            .command = Command::Squat, .flags = static_cast<uint32_t>(kind), .handle = handle};
        Peer importer({.confinement = noNames});
        importer.demand(squat);
        expectOpens(importer, handle);
        Peer stranded({.confinement = neither});
        stranded.demand(squat);
        // Refused for permissions on both ways, where the squatter is another user.
        expectRefuses(stranded,
                      handle,
                      kind == Squatter::IsAnotherUser ? ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS
                                                      : ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
}

TEST_F(TransportTest, FieldCase31_ASilentSquatterCostsTheTimeout) {
    Peer exporter;
    const auto handle = shareFrom(exporter);
    Peer importer({.environment = {"CAUSEWAY_IPC_TIMEOUT_MS=100"}, .confinement = noNames});
    importer.demand({.command = Command::Squat,
                     .flags = static_cast<uint32_t>(Squatter::StaysSilent),
                     .handle = handle});
    expectRefuses(importer, handle, ZE_RESULT_ERROR_NOT_AVAILABLE);
}

TEST_F(TransportTest, FieldCase35_AnotherUserOpensOnNoWay) {
    if (const char *reason = whyNotBeAnotherUser()) {
        GTEST_SKIP() << reason;
    }
    const SharedFolder folder;
    Peer exporter({.environment = {folder.variable()}});
    const auto handle = shareFrom(exporter);
    Peer stranger({.environment = {folder.variable()}, .confinement = "user"});
    expectRefuses(stranger, handle);
    Peer withoutFolder({.confinement = "user"});
    expectRefuses(withoutFolder, handle, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
}

TEST_F(TransportTest, UsersShareAFolderSideBySide) {
    if (const char *reason = whyNotBeAnotherUser()) {
        GTEST_SKIP() << reason;
    }
    const SharedFolder folder;
    const std::vector<std::string> environment = {folder.variable()};
    Peer here({.environment = environment});
    Peer there({.environment = environment, .confinement = "user"});
    const auto handleHere = shareFrom(here);
    const auto handleThere = shareFrom(there);
    EXPECT_EQ(folder.sockets().size(), 2U);
    Peer importerThere(
        {.environment = environment, .confinement = "network,user,deny:pidfd_getfd=EPERM"});
    expectOpens(importerThere, handleThere);
    expectRefuses(importerThere, handleHere);
}

TEST_F(TransportTest, AFolderThatSomebodyElseMadeInOurPlaceIsNotUsed) {
    const SharedFolder folder;
    fs::create_directory(folder.ours());
    chmod(folder.ours().c_str(), 0777);
    ASSERT_EQ(chown(folder.ours().c_str(), 12345, 12345), 0);
    Peer exporter({.environment = {folder.variable(), "CAUSEWAY_LOG=none"}});
    const auto handle = shareFrom(exporter);
    EXPECT_TRUE(folder.sockets().empty());
    Peer stranded({.environment = {folder.variable()}, .confinement = neither});
    expectRefuses(stranded, handle);
    Peer importer({.environment = {folder.variable()}});
    expectOpens(importer, handle);
}

TEST_F(TransportTest, SocketFilesGoWithTheirProcessesAndNotWithTheirForks) {
    const SharedFolder folder;
    const std::vector<std::string> environment = {folder.variable()};
    {
        Peer exporter({.environment = environment});
        const auto handle = shareFrom(exporter);
        exporter.demand({.command = Command::ForkAndExit});
        Peer importer({.environment = environment, .confinement = neither});
        expectOpens(importer, handle);
        exporter.process().finish();
        EXPECT_TRUE(folder.sockets().empty());
        expectRefuses(importer, handle);
    }
    Peer killed({.environment = environment});
    shareFrom(killed);
    killed.kill();
    EXPECT_EQ(folder.sockets().size(), 1U);
    std::ofstream(folder.ours() / "0123456789abcdef") << "a file of somebody";
    Peer next({.environment = environment});
    const auto handle = shareFrom(next);
    EXPECT_EQ(folder.sockets(), std::vector{serverIdOf(handle)});
    EXPECT_TRUE(fs::is_regular_file(folder.ours() / "0123456789abcdef"));
}

/// Each tidies up as it starts, while the others are between their bind and their rename.
TEST_F(TransportTest, ExportersThatStartAtOnceLoseNoSocket) {
    const SharedFolder folder;
    const std::vector<std::string> environment = {folder.variable()};
    Peer importer({.environment = environment, .confinement = neither});
    for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<Peer>> exporters;
        for (int i = 0; i < 6; ++i) {
            exporters.push_back(std::make_unique<Peer>(ChildOptions{.environment = environment}));
        }
        std::vector<ze_ipc_mem_handle_t> handles(exporters.size());
        {
            std::vector<std::jthread> threads;
            for (size_t i = 0; i < exporters.size(); ++i) {
                threads.emplace_back([&, i] { handles[i] = shareFrom(*exporters[i]); });
            }
        }
        for (const auto &handle : handles) {
            expectOpens(importer, handle);
        }
        for (const auto &exporter : exporters) {
            exporter->kill(); // their files are the next round's to remove
        }
    }
}

} // namespace
} // namespace causeway::black_box
