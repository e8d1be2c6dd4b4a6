// SPDX-License-Identifier: Apache-2.0
#include "tools/output/MemoryOutputs.h"
#include "tools/output/FileOutputs.h"

using namespace llvm;

namespace foretrace {

namespace {

/// Appends to a text until it is as long as it may be.
class TextStream final : public OutputStream {
public:
  TextStream(std::string &Text, uint64_t Room) : Text(Text), Room(Room) {}
  ~TextStream() override { flush(); }

  bool isFull() const override { return Text.size() > Room; }

private:
  void write_impl(const char *Data, size_t Size) override {
    if (!isFull())
      Text.append(Data, Size);
  }
  uint64_t current_pos() const override { return Text.size(); }

  std::string &Text;
  const uint64_t Room;
};

} // namespace

Error MemoryOutputs::addAll(
    uint64_t Count, function_ref<std::string(uint64_t)> Path,
    function_ref<void(uint64_t, OutputStream &)> Write) {
  for (uint64_t I = 0; I != Count; ++I) {
    File &New = Files.emplace_back();
    New.Path = Path(I);
    if (!Paths.insert(New.Path).second)
      return createStringError("two files are named `" + New.Path + "`");
    {
      TextStream OS(New.Text, MaxBytes - Written);
      Write(I, OS);
    }
    if (New.Text.size() > MaxBytes - Written)
      return make_error<OutputLimit>(MaxBytes, "");
    Written += New.Text.size();
  }
  return Error::success();
}

} // namespace foretrace
