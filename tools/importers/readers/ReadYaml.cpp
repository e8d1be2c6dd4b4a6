// SPDX-License-Identifier: Apache-2.0
//
// JSON and YAML, by LLVM's parser, which keeps the place of each value.
#include "lang/diagnostics/Import.h"
#include "tools/importers/formulas/ForeignValue.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace llvm;

namespace foretrace::importers {

namespace {

/// Far deeper than what people write, and far from the end of the stack.
constexpr unsigned MaxDepth = 64;

class YamlReader {
public:
  YamlReader(SourceText Text, DiagnosticEngine &Diags, Repeated Keys)
      : Text(Text), Diags(Diags), Keys(Keys) {
    Buffers.setDiagHandler(
        [](const SMDiagnostic &D, void *Self) {
          static_cast<YamlReader *>(Self)->report(D);
        },
        this);
  }

  std::optional<ForeignValue> read();

private:
  ForeignValue value(yaml::Node &N, unsigned Depth);
  ForeignValue map(yaml::MappingNode &N, unsigned Depth);
  ForeignValue list(yaml::SequenceNode &N, unsigned Depth);
  ForeignValue fail(SourceRange Range, StringRef Why);
  void report(const SMDiagnostic &D);
  /// The part of a range of LLVM's that the text has.
  SourceRange rangeOf(SMRange R) const;
  /// Returns the range of a list or an object, from its bracket on.
  SourceRange rangeOfAll(const yaml::Node &N) const;

  SourceText Text;
  DiagnosticEngine &Diags;
  const Repeated Keys;
  SourceMgr Buffers;
  bool HasFailed = false;
};

} // namespace

SourceRange YamlReader::rangeOf(SMRange R) const {
  const char *Begin = Text.str().begin(), *End = Text.str().end();
  const auto Clamp = [&](const char *At) {
    return At < Begin || At > End ? End : At;
  };
  const char *From = Clamp(R.Start.getPointer());
  const char *To = std::max(From, Clamp(R.End.getPointer()));
  return Text.rangeOf(StringRef(From, To - From));
}

SourceRange YamlReader::rangeOfAll(const yaml::Node &N) const {
  SourceRange Range = rangeOf(N.getSourceRange());
  const StringRef Before = Text.str().take_front(Range.Begin).rtrim();
  if (Before.ends_with("[") || Before.ends_with("{"))
    Range.Begin = static_cast<uint32_t>(Before.size() - 1);
  return Range;
}

ForeignValue YamlReader::fail(SourceRange Range, StringRef Why) {
  if (!HasFailed)
    Diags.report(Range, diag::ImportSyntax, Why);
  HasFailed = true;
  return {};
}

/// Reports the first error only: what follows is in its wake.
void YamlReader::report(const SMDiagnostic &D) {
  const char *At = D.getLoc().getPointer();
  fail(rangeOf(SMRange(SMLoc::getFromPointer(At), SMLoc::getFromPointer(At))),
       D.getMessage());
}

ForeignValue YamlReader::map(yaml::MappingNode &N, unsigned Depth) {
  std::vector<ForeignValue::Member> Members;
  StringMap<size_t> Places;
  for (yaml::KeyValueNode &Pair : N) {
    const SourceRange Whole = rangeOf(Pair.getSourceRange());
    auto *Key = dyn_cast_or_null<yaml::ScalarNode>(Pair.getKey());
    if (HasFailed)
      break;
    if (!Key) {
      fail(Whole, "a key that is not a text");
      break;
    }
    SmallString<32> Storage;
    ast::Word Name{Key->getValue(Storage).str(),
                   rangeOf(Key->getSourceRange())};
    yaml::Node *Given = Pair.getValue();
    ForeignValue Read =
        Given ? value(*Given, Depth) : ForeignValue::null(Whole);
    if (HasFailed)
      break;
    const auto [Place, IsNew] = Places.try_emplace(Name.Text, Members.size());
    if (IsNew) {
      Members.push_back({std::move(Name), std::move(Read)});
    } else if (Keys == Repeated::LastCounts) {
      Members[Place->second] = {std::move(Name), std::move(Read)};
    } else {
      Diags.report(Name.Range, diag::ImportDuplicate, Name.Text);
      HasFailed = true;
      break;
    }
  }
  return ForeignValue::of(std::move(Members), rangeOfAll(N));
}

ForeignValue YamlReader::list(yaml::SequenceNode &N, unsigned Depth) {
  std::vector<ForeignValue> Elements;
  for (yaml::Node &Element : N) {
    Elements.push_back(value(Element, Depth));
    if (HasFailed)
      break;
  }
  return ForeignValue::of(std::move(Elements), rangeOfAll(N));
}

ForeignValue YamlReader::value(yaml::Node &N, unsigned Depth) {
  const SourceRange Range = rangeOf(N.getSourceRange());
  if (HasFailed)
    return {};
  if (Depth > MaxDepth)
    return fail(Range, "lists and objects are nested too deeply");
  if (auto *Map = dyn_cast<yaml::MappingNode>(&N))
    return map(*Map, Depth + 1);
  if (auto *List = dyn_cast<yaml::SequenceNode>(&N))
    return list(*List, Depth + 1);
  if (auto *Block = dyn_cast<yaml::BlockScalarNode>(&N))
    return ForeignValue::of(Block->getValue().str(), Range);
  if (isa<yaml::NullNode>(N))
    return ForeignValue::null(Range);
  auto *Scalar = dyn_cast<yaml::ScalarNode>(&N);
  if (!Scalar)
    return fail(Range, "an alias, which is not supported");
  SmallString<32> Storage;
  const StringRef Read = Scalar->getValue(Storage);
  const StringRef Raw = Scalar->getRawValue();
  if (Raw.starts_with("\"") || Raw.starts_with("'"))
    return ForeignValue::of(Read.str(), Range);
  return readScalar(Read, Range);
}

std::optional<ForeignValue> YamlReader::read() {
  if (Text.str().trim().empty()) {
    fail(Text.range(), "the file is empty");
    return std::nullopt;
  }
  yaml::Stream Stream(Text.str(), Buffers, /*ShowColors=*/false);
  yaml::document_iterator Document = Stream.begin();
  yaml::Node *Root =
      HasFailed || Document == Stream.end() ? nullptr : Document->getRoot();
  if (!Root) {
    fail(Text.range(0, 0), "neither JSON nor YAML");
    return std::nullopt;
  }
  ForeignValue Read = value(*Root, 0);
  if (HasFailed || Stream.failed()) {
    fail(Text.range(0, 0), "neither JSON nor YAML");
    return std::nullopt;
  }
  if (Read.Is == ForeignValue::Kind::Map)
    return Read;
  Diags.report(Read.Range, diag::ImportValueKind, Read.kindName(), "an object");
  return std::nullopt;
}

std::optional<ForeignValue> readYaml(SourceText Text, DiagnosticEngine &Diags,
                                     Repeated Keys) {
  return YamlReader(Text, Diags, Keys).read();
}

} // namespace foretrace::importers
