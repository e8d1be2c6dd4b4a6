// SPDX-License-Identifier: Apache-2.0
#include "frontend/Overrides.h"
#include "frontend/Parse.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;

static void readOverride(SourceText Given, const Scope &Names,
                         GivenOverrides &All, DiagnosticEngine &Diags) {
  const llvm::StringRef Text = Given.str();
  auto [Path, Value] = Text.split('=');
  Path = Path.trim();
  llvm::SmallVector<llvm::StringRef, 4> Parts;
  Path.split(Parts, '.');
  constexpr size_t MaxParts = 8; // no section is that deep
  if (Value.trim().empty() || llvm::is_contained(Parts, "") ||
      Parts.size() > MaxParts) {
    Diags.report(Given.range(), diag::MalformedOverride, Text);
    return;
  }
  if (Path == "cluster") {
    const llvm::StringRef Name = Value.trim().trim('"');
    All.Cluster = {Name.str(), Given.rangeOf(Name)};
    return;
  }
  std::vector<ast::Word> Words;
  for (llvm::StringRef Part : Parts)
    Words.push_back({Part.str(), Given.rangeOf(Part)});
  Override O;
  O.Key = {Words.back(), nullptr, &Names, true};
  if (Words.size() > 1) {
    O.Top = Words.front();
    O.Sections.assign(Words.begin() + 1, Words.end() - 1);
  }
  if (ast::ExprPtr Parsed = parseExpression(Given.part(Value), Diags)) {
    O.Key.Value = Parsed.get();
    All.Values.push_back(std::move(Parsed));
    All.Keys.push_back(std::move(O));
  }
}

/// Makes one file with a line for each override, so that ranges identify it.
GivenOverrides foretrace::readOverrides(llvm::ArrayRef<std::string> Lines,
                                        const Scope &Names,
                                        SourceFiles &Sources,
                                        DiagnosticEngine &Diags) {
  constexpr llvm::StringLiteral Flag = "-D ";
  std::string Together;
  for (const std::string &Text : Lines)
    Together += (Flag + Text + "\n").str();
  const SourceText File = Sources.text(Sources.add(Together, CommandLineName));
  llvm::StringRef Rest = File.str();
  GivenOverrides All;
  for (const std::string &Text : Lines) {
    readOverride(File.part(Rest.substr(Flag.size(), Text.size())), Names, All,
                 Diags);
    Rest = Rest.drop_front(Flag.size() + Text.size() + 1);
  }
  return All;
}

void foretrace::fitNodes(const GivenOverrides &Given, ir::Spec &S) {
  const bool IsGiven = llvm::any_of(Given.Keys, [](const Override &O) {
    return O.Top.Text == "cluster" && O.Key.Key.Text == "nodes";
  });
  if (Given.Cluster.Text.empty() || IsGiven || !S.Parallel.World.isPresent())
    return;
  S.Cluster->Nodes = {};
  S.Cluster->Nodes.derive(
      llvm::divideCeil(*S.Parallel.World, *S.Cluster->DevicesPerNode),
      S.Parallel.World.Range);
}
