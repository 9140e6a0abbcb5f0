#pragma once

#include "source/kmd/kmd.h"

namespace causeway::kmd::soft {

/// What the soft address space needs of a backing besides the common contract.
class SoftBacking : public Backing {
  public:
    /// Borrowed; -1 once an import dropped it. The caller sees to it that dropDescriptor() does not
    /// run while it uses the number.
    [[nodiscard]] virtual int fd() const = 0;

    /// See Memory::dropDescriptor.
    virtual void dropDescriptor() {}
};

} // namespace causeway::kmd::soft
