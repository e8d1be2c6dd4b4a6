// SPDX-License-Identifier: Apache-2.0
#include "ir/model/KnownDevice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

bool KnownDevice::has(TypeKind T) const {
  switch (T) {
  case TypeKind::BF16:
  case TypeKind::FP16:
  case TypeKind::FP32:
    return true;
  case TypeKind::INT8: // of weights alone
  case TypeKind::INT4:
    return false;
  case TypeKind::FP8:
  case TypeKind::FP8Block:
    return Has >= Formats::Fp8;
  case TypeKind::MXFP8:
  case TypeKind::MXFP4:
    return Has >= Formats::Mx;
  case TypeKind::NVFP4:
    return Has >= Formats::Nv;
  }
  llvm_unreachable("every type is handled");
}

llvm::ArrayRef<KnownDevice> ir::knownDevices() {
  using Formats = KnownDevice::Formats;
  static constexpr KnownDevice Rows[] = {
#define KNOWN_DEVICE(NAME, VENDOR, ARCHITECTURE, GENERATION, DIE, BF16, FP8,   \
                     FP4, FORMATS, LINK, HOST)                                 \
  {NAME, VENDOR, ARCHITECTURE,     GENERATION, DIE, BF16,                      \
   FP8,  FP4,    Formats::FORMATS, LINK,       HOST},
#include "ir/model/KnownDevices.def"
  };
  return Rows;
}

static llvm::SmallVector<llvm::StringRef, 8> wordsOf(llvm::StringRef Name) {
  llvm::SmallVector<llvm::StringRef, 8> Words;
  llvm::SplitString(Name, Words, " -_/()");
  return Words;
}

const KnownDevice *ir::findDevice(llvm::StringRef Name) {
  const auto Words = wordsOf(Name);
  const KnownDevice *Found = nullptr;
  size_t Most = 0;
  for (const KnownDevice &Row : knownDevices()) {
    const auto Needed = wordsOf(Row.Name);
    if (Needed.size() > Most && llvm::all_of(Needed, [&](llvm::StringRef Word) {
          return llvm::any_of(Words, [&](llvm::StringRef Of) {
            return Of.equals_insensitive(Word);
          });
        })) {
      Found = &Row;
      Most = Needed.size();
    }
  }
  return Found;
}

llvm::StringRef ir::deviceName(const Spec &S) {
  const DeviceSpec &Device = S.Cluster ? S.Cluster->Device : S.Cost.Device;
  return Device.Name.isPresent() ? llvm::StringRef(*Device.Name) : "";
}

const KnownDevice *ir::deviceOf(const Spec &S) {
  return findDevice(deviceName(S));
}
