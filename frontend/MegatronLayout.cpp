// SPDX-License-Identifier: Apache-2.0
//
// Megatron-LM, transformer/pipeline_parallel_layer_layout.py,
// parse_str_to_list: E, t, m and L are the embedding, a layer, a layer that
// predicts further tokens, and the loss; `|` ends a chunk, `x*3` repeats a
// character, `(...)*3` a group, and commas mean nothing.
#include "frontend/MegatronLayout.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

static constexpr size_t MaxChunks = 4096, MaxUnrolled = 1 << 16;

/// Removes `*3` from \p Rest; 1 if there is no `*`, 0 if no number follows it.
static size_t takeCount(llvm::StringRef &Rest) {
  if (!Rest.consume_front("*"))
    return 1;
  size_t Count = 0;
  return Rest.consumeInteger(10, Count) || Count > MaxUnrolled ? 0 : Count;
}

/// \p Text with what is repeated written out; empty if that is too long or the
/// text is malformed.
static std::string unroll(llvm::StringRef Text) {
  std::string All;
  while (!Text.empty()) {
    std::string Part(1, Text.front());
    Text = Text.drop_front();
    if (Part == "(") {
      auto [Inside, After] = Text.split(')');
      Text = After;
      Part = Inside.contains('(') ? "" : unroll(Inside);
    }
    const size_t Count = takeCount(Text);
    if (Count == 0 || Part.empty() ||
        All.size() + Part.size() * Count > MaxUnrolled)
      return "";
    for (size_t I = 0; I != Count; ++I)
      All += Part;
  }
  return All;
}

std::optional<MegatronLayout>
foretrace::readMegatronLayout(llvm::StringRef Text) {
  std::string Plain = Text.str();
  llvm::erase(Plain, ',');
  const std::string All = unroll(Plain);
  if (All.find_first_not_of("EtmL|") != std::string::npos ||
      !llvm::StringRef(All).contains('t'))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef, 32> Chunks;
  llvm::StringRef(All).split(Chunks, '|');
  if (Chunks.size() > MaxChunks)
    return std::nullopt;
  MegatronLayout Layout;
  for (llvm::StringRef Chunk : Chunks)
    Layout.Layers.push_back(static_cast<int64_t>(Chunk.count('t')));
  const llvm::StringRef Whole = All;
  Layout.HasMtp = Whole.contains('m');
  const size_t Last = Whole.size() - Chunks.back().size();
  Layout.AreEndsInPlace = Whole.count('E') == 1 && Whole.starts_with("E") &&
                          Whole.count('L') == 1 && Whole.ends_with("L") &&
                          (!Layout.HasMtp || Whole.find('m') >= Last);
  return Layout;
}

std::string MegatronLayout::asList() const {
  std::string Text;
  for (size_t I = 0; I != Layers.size();) {
    size_t End = I;
    while (End != Layers.size() && Layers[End] == Layers[I])
      ++End;
    if (I != 0)
      Text += " + ";
    if (End - I > 1)
      Text += llvm::utostr(End - I) + " * ";
    Text += "[" + llvm::itostr(Layers[I]) + "]";
    I = End;
  }
  return Text;
}
