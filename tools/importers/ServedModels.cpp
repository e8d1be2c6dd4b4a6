// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/ServedModels.h"
#include "frontend/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace::importers {

Checkpoints::Checkpoints(SourceFiles &Sources, DiagnosticEngine &Diags)
    : Classes("import/serving/", Sources, Diags),
      Page(*Classes.findClass("checkpoints")) {}

/// The name of a checkpoint in small letters, without its organization and the
/// words at its end that say nothing about its layers.
std::string Checkpoints::plainName(StringRef Id) const {
  SmallVector<StringRef, 32> Variants;
  SplitString(textOfKey(Page, "variants"), Variants);
  const std::string Whole = path::filename(Id).lower();
  StringRef Name = Whole;
  for (;;) {
    const auto [Rest, Word] = Name.rsplit('-');
    const bool IsDate = !Word.empty() && all_of(Word, isDigit);
    if (Rest.size() == Name.size() || !(IsDate || is_contained(Variants, Word)))
      return Name.str();
    Name = Rest;
  }
}

const LibraryModel *Checkpoints::find(StringRef Id) const {
  if (const LibraryModel *M = findNamedModel(Id))
    return M;
  const std::string Name = plainName(Id);
  for (const LibraryModel &M : libraryModels())
    for (const std::string &Known : idsOf(M))
      if (plainName(Known) == Name)
        return findNamedModel(Known);
  return nullptr;
}

std::string Checkpoints::typeOf(const LibraryModel &M) const {
  for (const ast::Entry &E : Page.Entries) {
    const ast::Section *Types = sectionOf(E);
    for (const ast::Entry &In :
         Types ? ArrayRef(Types->Entries) : ArrayRef<ast::Entry>()) {
      const auto &A = std::get<ast::Assignment>(In.Node);
      SmallVector<StringRef, 16> Titles;
      SplitString(textOf(*A.Value), Titles);
      if (is_contained(Titles, M.Title))
        return A.Key.Text;
    }
  }
  return "";
}

/// Adds a member to the facts of a model.
static void addFact(std::vector<ForeignValue::Member> &To, StringRef Name,
                    ForeignValue Is) {
  To.push_back({{Name.str(), {}}, std::move(Is)});
}

std::vector<ForeignValue::Member> factsOf(const LibraryModel &M) {
  constexpr StringLiteral JobName = "served.fore";
  auto Files = makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  const auto Add = [&](const Twine &Path, StringRef Text) {
    Files->addFile(Path, /*ModificationTime=*/0,
                   MemoryBuffer::getMemBufferCopy(Text));
  };
  for (const LibraryFile &F : libraryFiles())
    Add(Twine(LibraryFolder) + "/" + F.Path, F.Text);
  Add(JobName, ("import \"models/" + M.Title + ".fore\"\n").str());
  SourceFiles Sources(Files);
  ParsedFiles Parsed(Sources);
  DiagnosticEngine Unheard;
  FrontendOptions Options;
  Options.OnlyModel = true;
  Options.IsOfModel = [](ArrayRef<ir::EmitSpec>) { return true; };
  Options.ImportPaths = {LibraryFolder};
  const std::optional<ir::Spec> S =
      compileSpec(Parsed, JobName, Options, Unheard);
  if (!S) // it has params
    return {};
  std::vector<ForeignValue::Member> Facts;
  std::vector<ForeignValue> Mixers;
  bool HasExperts = false;
  for (const ir::BlockSpec &B : S->Model.Blocks) {
    Mixers.push_back(ForeignValue::of(B.Mixer.Kind));
    const auto *Experts = B.Network.find<int64_t>("experts");
    HasExperts |= Experts && Experts->isPresent();
  }
  addFact(Facts, "layers", ForeignValue::of(S->Model.layerCount()));
  addFact(Facts, "has_experts", ForeignValue::of(HasExperts));
  addFact(Facts, "mixers", ForeignValue::of(std::move(Mixers)));
  if (S->Model.MaxPositions.isPresent())
    addFact(Facts, "positions", ForeignValue::of(*S->Model.MaxPositions));
  return Facts;
}

std::vector<ForeignValue::Member> factsOf(const ImportedJob &Job) {
  std::vector<ForeignValue::Member> Facts;
  std::vector<ForeignValue> Mixers;
  bool HasExperts = false;
  for (const LayerText &L : Job.Layers) {
    Mixers.push_back(ForeignValue::of(L.Attention.Kind));
    HasExperts |= L.Block.find("experts") != nullptr;
  }
  addFact(Facts, "layers",
          ForeignValue::of(static_cast<int64_t>(Job.Layers.size())));
  addFact(Facts, "has_experts", ForeignValue::of(HasExperts));
  addFact(Facts, "mixers", ForeignValue::of(std::move(Mixers)));
  if (const std::string *Positions = Job.Keys.find("max_positions"))
    addFact(Facts, "positions", readScalar(*Positions, {}));
  return Facts;
}

} // namespace foretrace::importers
