#pragma once

#include "shared/os/os.h"
#include "shared/wire/messages.h"
#include "source/ipc/export_table.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace causeway::ipc {

/// The server's end of one conversation: a request in, a reply out, one at a time. Owned and used
/// by the server's thread. Never blocks: what cannot be sent now waits inside.
class Connection {
  public:
    using Clock = std::chrono::steady_clock;

    /// What the server should wait for next.
    enum class State : uint8_t {
        Reading,  ///< the next request
        Writing,  ///< room in the peer's queue
        Retrying, ///< the kernel's limit on descriptors in flight; nothing tells when, so by timer
        Done,     ///< close it
    };

    Connection(Os &os,
               const ExportTable &exports,
               UniqueFd socket,
               std::chrono::milliseconds patience);

    /// Call when readable (Reading), writable (Writing) or by timer (Retrying).
    State advance();

    /// In a forked child: closes the descriptors and touches nothing else.
    void abandon() noexcept;

    [[nodiscard]] int fd() const { return socket_.get(); }

    [[nodiscard]] Clock::time_point deadline() const { return std::min(deadline_, end_); }

    /// Whether the peer has shown a token that opens something.
    [[nodiscard]] bool authorised() const { return export_ != nullptr; }

  private:
    State readRequest();
    State send();
    void prepare(const wire::Request &request);
    void prepareOpen(const wire::Request &request);
    void prepareFetch(const wire::Request &request);
    void prepareError(wire::ReplyStatus status);
    [[nodiscard]] Result<void> takeTableFile();
    [[nodiscard]] std::vector<kmd::TravelFd> makeDescriptors(uint32_t first, uint32_t count);

    Os &os_;
    const ExportTable &exports_;
    UniqueFd socket_;
    const std::chrono::milliseconds patience_;
    Clock::time_point deadline_;
    Clock::time_point end_ = Clock::time_point::max(); ///< of the whole conversation
    ExportTable::Reference export_;
    std::shared_ptr<const UniqueFd> tableFile_; ///< of export_, for as long as we talk
    std::vector<std::byte> reply_;              ///< not empty: waiting to be sent
    std::vector<kmd::TravelFd> replyFds_;
    bool closeAfterReply_ = false;
};

/// Descriptors per message that neither side's limit is strained by (ipc.md: in-flight descriptors
/// are counted against the soft RLIMIT_NOFILE, over all processes of the user).
[[nodiscard]] uint32_t descriptorBatch(Os &os);

} // namespace causeway::ipc
