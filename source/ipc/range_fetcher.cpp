#include "source/ipc/range_fetcher.h"

#include "source/ipc/connection.h"
#include "source/ipc/export.h"
#include "source/ipc/ways.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

namespace causeway::ipc {
namespace {

/// Copies a table out of a memfd that the peer can no longer change.
Result<std::vector<std::byte>> readTableFile(Os &os, int fd, uint64_t sizeBytes) {
    if (sizeBytes > mostTableBytes) {
        return fail(Status::InvalidArgument,
                    "the exporter's table of {} bytes exceeds {}",
                    sizeBytes,
                    mostTableBytes);
    }
    const auto seals = os.seals(fd);
    constexpr int needed = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
    if (!seals || (*seals & needed) != needed) {
        return fail(Status::InvalidArgument, "the exporter's table is not in a sealed file");
    }
    const auto info = os.fileInfo(fd);
    if (!info || info->sizeBytes != sizeBytes) {
        return fail(Status::InvalidArgument,
                    "the exporter's table file has {} bytes, promised were {}",
                    info ? info->sizeBytes : 0,
                    sizeBytes);
    }
    std::vector<std::byte> bytes(sizeBytes);
    for (uint64_t done = 0; done < sizeBytes;) {
        const auto length = os.readAt(fd, std::span(bytes).subspan(done), done);
        if (!length) {
            return failWith(length.error(), "reading the exporter's table");
        }
        if (*length == 0) {
            return fail(Status::InvalidArgument, "the exporter's table ends early");
        }
        done += *length;
    }
    return bytes;
}

} // namespace

Result<RangeFetcher> RangeFetcher::open(Os &os,
                                        const wire::IpcHandle &handle,
                                        const IpcConfig &config) {
    FailedWays failed;
    for (const Way &way : waysToExporters()) {
        if (!way.applies(handle, config)) {
            continue;
        }
        auto conversation = way.connect(os, handle, config);
        if (conversation) {
            RangeFetcher fetcher(os, std::move(*conversation), descriptorBatch(os));
            auto received = fetcher.receiveTable(handle);
            if (received) {
                const uint64_t objects = fetcher.table_.objects.size();
                fetcher.conversation_.setBudget(conversationBudget(config.timeout, objects));
                return fetcher;
            }
            // Whoever answers there may not be the exporter: its name is not hard to guess.
            failed.add(way.name, received.error(), true);
        } else {
            failed.add(way.name, conversation.error(), false);
        }
        if (!failed.mayGoOn()) {
            break;
        }
    }
    return std::unexpected(failed.verdict());
}

Result<void> RangeFetcher::receiveTable(const wire::IpcHandle &handle) {
    asked_ = {.type = wire::RequestType::Open, .token = handle.token, .first = 0, .count = batch_};
    if (auto sent = conversation_.send(asked_); !sent) {
        return sent;
    }
    auto answer = conversation_.receive();
    if (!answer) {
        return forward(answer);
    }
    answer_ = std::move(*answer);
    const auto bytes = tableBytes();
    if (!bytes) {
        return std::unexpected(bytes.error());
    }
    auto table = wire::decodeTable(*bytes);
    if (!table) {
        return forward(table, "the exporter's table");
    }
    table_ = std::move(*table);
    if (table_.windowBytes != handle.sizeBytes) {
        return fail(Status::InvalidArgument,
                    "the handle says {} bytes, the exporter's table {}",
                    handle.sizeBytes,
                    table_.windowBytes);
    }
    const auto objects = static_cast<uint32_t>(table_.objects.size());
    wanted_ = WantList(objects);
    asked_ = wanted_.take(wire::RequestType::Open, std::min(batch_, objects));
    return {};
}

/// The table as bytes that the peer can no longer change; takes its descriptor out of the answer.
Result<std::vector<std::byte>> RangeFetcher::tableBytes() {
    if (!answer_.header.tableInFile) {
        return std::move(answer_.inlineTable);
    }
    if (answer_.fds.empty()) {
        return fail(Status::OutOfHostMemory, "no descriptor left to receive the table with");
    }
    const UniqueFd file = std::move(answer_.fds.front());
    answer_.fds.erase(answer_.fds.begin());
    return readTableFile(os_, file.get(), answer_.header.tableBytes);
}

/// Compares the answer in hand with what was asked, and wants again what did not come.
Result<void> RangeFetcher::account() {
    const auto arrived = static_cast<uint32_t>(answer_.fds.size());
    if (answer_.header.first != asked_.first || answer_.header.fdCount > asked_.count) {
        return fail(Status::InvalidArgument,
                    "asked for {} objects from {}, the exporter sent {} from {}",
                    asked_.count,
                    asked_.first,
                    answer_.header.fdCount,
                    answer_.header.first);
    }
    wanted_.giveBack(asked_.first + arrived, asked_.count - arrived);
    if (answer_.truncated) {
        // Without descriptors to spare, hold one batch at a time.
        pipelined_ = false;
    }
    if (arrived == 0 && starved_) {
        return fail(Status::OutOfHostMemory, "no descriptor left to receive objects with");
    }
    starved_ = arrived == 0;
    return {};
}

Result<void> RangeFetcher::request() {
    asked_ = wanted_.take(wire::RequestType::Fetch, batch_);
    return conversation_.send(asked_);
}

Result<void> RangeFetcher::receiveNext() {
    auto next = conversation_.receive();
    if (!next) {
        return forward(next);
    }
    if (next->header.tableInFile || next->header.tableBytes != 0) {
        return fail(Status::InvalidArgument, "the exporter sent a second table");
    }
    answer_ = std::move(*next);
    return {};
}

Result<void> RangeFetcher::fetch(const Sink &sink) {
    for (;;) {
        if (auto fits = account(); !fits) {
            return fits;
        }
        const uint32_t first = asked_.first;
        const bool more = !wanted_.empty();
        const bool ahead = more && pipelined_;
        if (ahead) {
            if (auto sent = request(); !sent) {
                return sent;
            }
        }
        auto taken = sink(first, answer_.fds);
        answer_.fds.clear();
        if (!taken || !more) {
            return taken;
        }
        if (!ahead) {
            if (auto sent = request(); !sent) {
                return sent;
            }
        }
        if (auto received = receiveNext(); !received) {
            return received;
        }
    }
}

} // namespace causeway::ipc
