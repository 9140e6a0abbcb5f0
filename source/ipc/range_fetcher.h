#pragma once

#include "shared/wire/range_table.h"
#include "source/ipc/conversation.h"
#include "source/ipc/ipc_config.h"
#include "source/ipc/want_list.h"

#include <functional>
#include <span>

namespace causeway::ipc {

/// Pulls one range out of its exporter: first the table, then the objects' descriptors in batches,
/// each handed on before much more is held. Used by one thread.
///
/// Whatever the peer does ends in an error or in progress: it must answer what was asked, within
/// the timeout for each answer, and two answers in a row without a descriptor end it.
class RangeFetcher {
  public:
    /// Connects by the first way on which the handle's token is known, and receives the table,
    /// which must fit the handle. Errors: as Way and Conversation, InvalidArgument (a table that
    /// contradicts itself or the handle), UnsupportedVersion.
    static Result<RangeFetcher> open(Os &os,
                                     const wire::IpcHandle &handle,
                                     const IpcConfig &config);

    [[nodiscard]] const wire::RangeTable &table() const { return table_; }

    /// Takes the descriptors of objects first, first + 1, ...; what it leaves in the span is
    /// closed.
    using Sink = std::function<Result<void>(uint32_t first, std::span<UniqueFd> fds)>;

    /// Brings every object to the sink exactly once, in no promised order. Call once.
    Result<void> fetch(const Sink &sink);

  private:
    RangeFetcher(Os &os, Conversation conversation, uint32_t batch)
        : os_(os), conversation_(std::move(conversation)), batch_(batch) {}

    Result<void> receiveTable(const wire::IpcHandle &handle);
    Result<std::vector<std::byte>> tableBytes();
    Result<void> receiveNext();
    Result<void> account();
    Result<void> request();

    Os &os_;
    Conversation conversation_;
    uint32_t batch_; ///< most descriptors asked for at once
    wire::RangeTable table_;
    WantList wanted_{0};
    wire::Request asked_;         ///< what the next answer must be about
    Conversation::Answer answer_; ///< the one in hand
    bool pipelined_ = true;       ///< ask for the next batch before this one is handed on
    bool starved_ = false;        ///< the last answer brought nothing
};

} // namespace causeway::ipc
