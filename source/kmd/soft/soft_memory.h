#pragma once

#include "shared/base/mutex.h"
#include "shared/os/os.h"
#include "source/kmd/kmd.h"
#include "source/kmd/soft/bank_slot.h"
#include "source/kmd/soft/ledger.h"
#include "source/kmd/soft/soft_backing.h"

#include <memory>
#include <optional>

namespace causeway::kmd::soft {

/// An object's own file, open as long as this lives. Peers that keep the file after us are not
/// charged to the device: the kernel does not tell when they let go.
class OwnFile final : public SoftBacking {
  public:
    /// `bytes` and `descriptor` are given back when the file is closed.
    OwnFile(Os &os, UniqueFd file, uint64_t sizeBytes, Charge bytes, Charge descriptor);

    [[nodiscard]] ObjectKind kind() const override { return ObjectKind::Memfd; }

    [[nodiscard]] uint64_t sizeBytes() const override { return sizeBytes_; }

    [[nodiscard]] bool holdsOneObject() const override { return true; }

    [[nodiscard]] bool canTravel() const override { return true; }

    [[nodiscard]] Result<TravelFd> exportDescriptor(std::span<const Extent> extents) override;
    [[nodiscard]] std::shared_ptr<PublishedFile> publish(PublishUntil until) override;

    [[nodiscard]] int fd() const override { return file_.get(); }

  private:
    Os &os_;
    uint64_t sizeBytes_;
    Charge bytes_;
    Charge descriptor_;
    UniqueFd file_; // closed before the charges are given back
    FilePublisher publisher_;
};

/// A file that a peer sent. Its descriptor may carry the lease of a bank, so what is exported again
/// is a duplicate of it.
class ImportedFile final : public SoftBacking {
  public:
    /// `kept`: the charge for a descriptor that stays open as long as this, of a file that holds
    /// one object.
    ImportedFile(
        Os &os, ObjectKind kind, UniqueFd file, uint64_t sizeBytes, std::optional<Charge> kept);

    [[nodiscard]] ObjectKind kind() const override { return kind_; }

    [[nodiscard]] uint64_t sizeBytes() const override { return sizeBytes_; }

    /// What is not kept may be a bank of the peer.
    [[nodiscard]] bool holdsOneObject() const override { return kept_.has_value(); }

    [[nodiscard]] bool canTravel() const override { return fd() >= 0; }

    [[nodiscard]] Result<TravelFd> exportDescriptor(std::span<const Extent> extents) override;
    [[nodiscard]] std::shared_ptr<PublishedFile> publish(PublishUntil until) override;
    [[nodiscard]] int fd() const override;
    void dropDescriptor() override;

  private:
    Os &os_;
    ObjectKind kind_;
    uint64_t sizeBytes_;
    const std::optional<Charge> kept_;
    mutable Mutex mutex_;
    UniqueFd file_ GUARDED_BY(mutex_);
    FilePublisher publisher_;
};

/// Memory of the soft device: a whole file, or a slot of a bank.
class SoftMemory final : public Memory {
  public:
    /// New memory: a slot of `backing`, or the whole file.
    SoftMemory(const Device &device,
               const CreateInfo &info,
               std::shared_ptr<SoftBacking> backing,
               BankSlot slot = {});
    /// Imported memory.
    SoftMemory(const Device &device, const ImportInfo &info, std::shared_ptr<SoftBacking> backing);

    [[nodiscard]] uint64_t sizeBytes() const override { return sizeBytes_; }

    [[nodiscard]] Placement placement() const override { return placement_; }

    [[nodiscard]] const Device &device() const override { return device_; }

    [[nodiscard]] const DeviceUuid &owner() const override { return owner_; }

    [[nodiscard]] const std::shared_ptr<Backing> &backing() const override { return backing_; }

    [[nodiscard]] uint64_t backingOffset() const override { return slot_.offset(); }

    void dropDescriptor() override { softBacking_.dropDescriptor(); }

    /// Of the backing, borrowed; -1 once an import dropped it.
    [[nodiscard]] int fd() const { return softBacking_.fd(); }

  private:
    const Device &device_;
    DeviceUuid owner_;
    Placement placement_;
    uint64_t sizeBytes_;
    SoftBacking &softBacking_; ///< what backing_ holds
    std::shared_ptr<Backing> backing_;
    BankSlot slot_;
};

} // namespace causeway::kmd::soft
