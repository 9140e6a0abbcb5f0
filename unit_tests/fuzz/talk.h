#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// What a hostile peer sends over a socket, as an input of a fuzz target: messages, one after the
/// other, with descriptors on them.
namespace causeway::fuzz {

/// What a descriptor on a message is of.
enum class FdKind : uint8_t {
    Object,    ///< as an exporter's: objectBytes long, sealed against changes of size
    Unsealed,  ///< the same without seals
    Short,     ///< the same with one page
    Pipe,      ///< its reading end
    Folder,    ///< "/"
    DevNull,   ///< "/dev/null"
    HugePages, ///< a memfd of huge pages, with none behind it
    TableFile, ///< sealed, with the bytes of the next message, which is not sent itself
    Count
};

inline constexpr uint64_t objectBytes = uint64_t{64} * 1024;

struct Message {
    uint8_t fdCount = 0;
    FdKind kind = FdKind::Object; ///< of all descriptors but one
    FdKind oddKind = FdKind::Object;
    uint8_t oddAt = 0; ///< which is of the odd kind
    std::vector<std::byte> bytes = {};

    [[nodiscard]] FdKind kindOf(size_t descriptor) const {
        return descriptor == oddAt ? oddKind : kind;
    }
};

/// Six bytes before each message: the count, the kinds, which one is odd, the length in two bytes.
inline constexpr size_t messageHeaderBytes = 6;

/// Any bytes are a talk: kinds count modulo, the last message is as long as what is left.
inline std::vector<Message> parseTalk(std::span<const std::byte> input) {
    const auto number = [&](size_t i) { return std::to_integer<uint8_t>(input[i]); };
    const auto kind = [&](size_t i) {
        return static_cast<FdKind>(number(i) % static_cast<uint8_t>(FdKind::Count));
    };
    std::vector<Message> talk;
    while (input.size() >= messageHeaderBytes) {
        Message message{
            .fdCount = number(0), .kind = kind(1), .oddKind = kind(2), .oddAt = number(3)};
        const size_t length = number(4) + size_t{256} * number(5);
        input = input.subspan(messageHeaderBytes);
        const auto bytes = input.first(std::min(length, input.size()));
        message.bytes.assign(bytes.begin(), bytes.end());
        input = input.subspan(bytes.size());
        talk.push_back(std::move(message));
    }
    return talk;
}

inline std::vector<std::byte> writeTalk(const std::vector<Message> &talk) {
    std::vector<std::byte> bytes;
    for (const Message &message : talk) {
        const size_t length = message.bytes.size();
        for (const size_t number : {size_t{message.fdCount},
                                    static_cast<size_t>(message.kind),
                                    static_cast<size_t>(message.oddKind),
                                    size_t{message.oddAt},
                                    length % 256,
                                    length / 256}) {
            bytes.push_back(static_cast<std::byte>(number));
        }
        bytes.insert(bytes.end(), message.bytes.begin(), message.bytes.end());
    }
    return bytes;
}

} // namespace causeway::fuzz
