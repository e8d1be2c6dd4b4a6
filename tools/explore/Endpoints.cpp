// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/Endpoints.h"
#include "analysis/Figures.h"
#include "backends/CommandLine.h"
#include "backends/PageTemplate.h"
#include "backends/report/Report.h"
#include "lang/DiagnosticClient.h"
#include "lang/ParseJson.h"
#include "tools/compiler/AllKeys.h"
#include "tools/diff/Input.h"
#include "tools/diff/Writer.h"
#include "tools/explore/Controls.h"
#include "tools/explore/JobText.h"
#include "tools/explore/Suggestions.h"
#include "tools/exporters/Exporters.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::explore {

/// Beside this file, in the folder of the page; the first has the others.
static constexpr PageFile PanelFiles[] = {
#include "tools/explore/PanelFiles.inc"
};

/// Limits of a request.
static constexpr size_t MostChanges = 512, MostBytes = 4096, MostKeys = 32;

Endpoints::Endpoints(LiveJob &Job, std::function<DiagnosticEngine()> MakeEngine)
    : Job(Job), MakeEngine(std::move(MakeEngine)) {}

/// The attribute `diagnostics`, and `denied`: files that a text must not read.
static void writeDiagnostics(const DiagnosticEngine &Diags, LiveJob &Job,
                             const SourceFiles &Sources, json::OStream &J) {
  std::string Lines;
  raw_string_ostream OS(Lines);
  showAll(Diags, Sources, *makeJSONClient(OS));
  SmallVector<StringRef, 0> Each;
  StringRef(Lines).split(Each, '\n', -1, /*KeepEmpty=*/false);
  J.attributeArray("diagnostics", [&] {
    for (StringRef Line : Each)
      J.rawValue(Line);
  });
  J.attributeArray("denied", [&] {
    for (const std::string &Path : Job.files().takeDenied())
      J.value(json::fixUTF8(Path));
  });
}

/// Returns the variant that the members `text` and `set` ask for; nothing, and
/// \p Why, if they are of other types.
static std::optional<JobVariant> readVariant(const json::Object &Of,
                                             std::string &Why) {
  JobVariant V;
  if (const json::Value *Text = Of.get("text")) {
    const auto Is = Text->getAsString();
    if (!Is && Text->kind() != json::Value::Null) {
      Why = "`text` is no text";
      return std::nullopt;
    }
    if (Is)
      V.Text = Is->str();
  }
  const json::Value *Set = Of.get("set");
  const json::Array *All = Set ? Set->getAsArray() : nullptr;
  if ((Set && !All) || (All && All->size() > MostChanges)) {
    Why = "`set` is no list of at most " + std::to_string(MostChanges) +
          " changes";
    return std::nullopt;
  }
  for (const json::Value &Each : All ? *All : json::Array()) {
    const auto Change = Each.getAsString();
    if (!Change || Change->size() > MostBytes || Change->contains('\n')) {
      Why = "a change is a line such as `parallel.tp=4`";
      return std::nullopt;
    }
    V.Changes.push_back(Change->str());
  }
  return V;
}

/// Calls \p Answer with what \p Of asks for.
static HttpReply
withVariant(const json::Object &Of,
            function_ref<HttpReply(const JobVariant &)> Answer) {
  std::string Why;
  const std::optional<JobVariant> V = readVariant(Of, Why);
  return V ? Answer(*V) : refuse(400, Why);
}

bool Endpoints::writeData(CompiledJob &Of, raw_ostream &OS) {
  const ir::Program *P = Of.program(report::needs({}));
  if (!P)
    return false;
  const SourceFiles &Sources = Job.session().sources();
  const auto Where = [&](SourceRange R) { return lineOf(Sources, R); };
  ir::ExprOverlay Sizes(*P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  const ir::EmitSpec Emit;
  const std::string Stem = stemOfJob(Job.path());
  EmitRequest Request{*P, Figures, Emit, Stem, Where, &Sources};
  const auto Largest = [&] { return Of.largestStep(report::needs({})); };
  Request.Largest = Largest;
  if (!report::check(Request, {}, Of.engine()))
    return false;
  report::writeData(Request, OS);
  return true;
}

HttpReply Endpoints::page() {
  std::string Data, Body;
  raw_string_ostream OS(Data);
  const VariantJob Of(Job, {}, MakeEngine());
  if (!writeData(*Of, OS))
    return refuse(409, "the job has errors; see `foretrace compile`");
  raw_string_ostream Page(Body);
  cantFail(report::writePage(Page, [&](raw_ostream &To) {
    To << Data;
    return Error::success();
  }));
  std::string Panel;
  raw_string_ostream PanelOS(Panel);
  cantFail(writePage(PanelFiles, PanelOS,
                     [](raw_ostream &) { return Error::success(); }));
  const size_t End = Body.rfind("</body>");
  Body.insert(End, Panel);
  return {200, "text/html; charset=utf-8", std::move(Body)};
}

HttpReply Endpoints::job() {
  const VariantJob Of(Job, {});
  const bool Serves = Of->spec() && Of->spec()->Serve;
  return reply([&](json::OStream &J) {
    J.attribute("stamp", Job.stamp());
    J.attribute("path", json::fixUTF8(Job.jobPath()));
    J.attribute("text", json::fixUTF8(Job.text()));
    J.attributeArray("exports", [&] {
      for (const exporters::Exporter &E : exporters::exporters())
        if (E.isOfModel() || (E.Of == exporters::Exporter::Serving) == Serves)
          J.value(E.Name);
    });
  });
}

HttpReply Endpoints::compile(const Object &Asked) {
  return withVariant(Asked, [&](const JobVariant &V) {
    const VariantJob Of(Job, V, MakeEngine());
    std::string Data;
    raw_string_ostream OS(Data);
    const bool IsLegal = writeData(*Of, OS);
    return reply([&](json::OStream &J) {
      J.attribute("legal", IsLegal);
      writeDiagnostics(Of->engine(), Job, Job.session().sources(), J);
      if (IsLegal) {
        J.attributeBegin("data");
        J.rawValue(Data);
        J.attributeEnd();
      }
    });
  });
}

HttpReply Endpoints::controls(const Object &Asked) {
  return withVariant(Asked, [&](const JobVariant &V) {
    if (Keys.empty())
      Keys = allKeys();
    const VariantJob Of(Job, V);
    const ir::Program *P = Of->program({ir::Fact::Complete});
    if (!P)
      return refuse(409, "the job has errors");
    return reply([&](json::OStream &J) {
      J.attributeArray("controls", [&] {
        for (const Control &C : controlsOf(Job, V, P->Spec))
          J.object([&] {
            J.attribute("key", json::fixUTF8(C.Path));
            J.attribute("type", C.Type);
            J.attribute("value", json::fixUTF8(C.Value));
            J.attribute("how", C.How);
            const auto Known = find_if(Keys, [&](const KeyEntry &K) {
              return K.Section == C.Section && K.Name == C.Name;
            });
            J.attribute("doc", Known != Keys.end()    ? Known->Doc
                               : C.Section == "param" ? "Param of the job."
                                                      : "");
          });
      });
    });
  });
}

HttpReply Endpoints::values(const Object &Asked) {
  const json::Array *Wanted = Asked.getArray("keys");
  if (!Wanted || Wanted->size() > MostKeys)
    return refuse(400,
                  "`keys` is no list of at most " + Twine(MostKeys) + " keys");
  return withVariant(Asked, [&](const JobVariant &V) {
    const VariantJob Of(Job, V);
    const ir::Program *P = Of->program({ir::Fact::Complete});
    if (!P)
      return refuse(409, "the job has errors");
    const std::vector<Control> All = controlsOf(Job, V, P->Spec);
    return reply([&](json::OStream &J) {
      J.attributeObject("values", [&] {
        for (const Control &C : All)
          if (is_contained(*Wanted, json::Value(json::fixUTF8(C.Path))))
            J.attributeArray(json::fixUTF8(C.Path), [&] {
              for (const Candidate &Is : tryCandidates(Job, V, C))
                J.object([&] {
                  J.attribute("value", json::fixUTF8(Is.Value));
                  if (!Is.WhyNot.empty())
                    J.attribute("why", json::fixUTF8(Is.WhyNot));
                });
            });
      });
    });
  });
}

static HttpReply replyWith(const Suggestions &Found) {
  return reply([&](json::OStream &J) {
    J.attribute("why", Found.WhyNone);
    J.attributeArray("suggestions", [&] {
      for (const start::JobChange &S : Found.All)
        J.object([&] {
          J.attribute("set", json::Array(S.Keys));
          J.attribute("peak", S.Job.Peak);
          if (S.Job.Time)
            J.attribute("time", *S.Job.Time);
        });
    });
  });
}

/// The search keeps the job as it is now: the page may move on.
HttpAnswer Endpoints::suggest(const Object &Asked) {
  const StringRef Goal = Asked.getString("goal").value_or("");
  if (Goal != "fit" && Goal != "faster")
    return refuse(400, "`goal` is `fit` or `faster`");
  std::string Why;
  const std::optional<JobVariant> V = readVariant(Asked, Why);
  if (!V)
    return refuse(400, Why);
  const auto IsCancelled = std::make_shared<std::atomic<bool>>(false);
  return SlowReply{IsCancelled,
                   [Of = Job.openJob(*V, IsCancelled),
                    Search = Goal == "fit" ? suggestFitting : suggestFaster] {
                     return replyWith(Search(Of));
                   }};
}

HttpReply Endpoints::compare(const Object &Asked) {
  const json::Object *Before = Asked.getObject("before");
  const json::Object *After = Asked.getObject("after");
  if (!Before || !After)
    return refuse(400, "`before` and `after` are objects with `text` and "
                       "`set`");
  return withVariant(*Before, [&](const JobVariant &Old) {
    return withVariant(*After, [&](const JobVariant &New) {
      const std::unique_ptr<Compiler> Apart = Job.makeApart();
      auto Read = [&](const JobVariant &V) {
        FrontendOptions Options = Job.prepare(*Apart, V);
        return std::make_unique<diff::Input>(*Apart, Job.jobPath(),
                                             std::move(Options), MakeEngine());
      };
      const auto First = Read(Old), Second = Read(New);
      if (!First->isRead() || !Second->isRead())
        return refuse(409, "one of the jobs has errors");
      const diff::Side A = First->side("pinned", *Second),
                       B = Second->side("now", *First);
      const auto D = diff::compare(A, B);
      std::string Body;
      raw_string_ostream OS(Body);
      diff::DiffWriter(A, B, *D, Apart->sources(), 0)
          .write(RowFormat::JSON, OS);
      return HttpReply{200, "application/json", std::move(Body)};
    });
  });
}

/// A command line that compiles \p V; its text must be that of the file.
std::string Endpoints::commandOf(const JobVariant &V) const {
  std::string Line = "foretrace compile " + shellQuoted(Job.path());
  for (const std::string &Folder : Job.reading().ImportPaths)
    Line += " -I " + shellQuoted(Folder);
  for (ArrayRef<std::string> Some :
       {ArrayRef(Job.reading().Overrides), ArrayRef(V.Changes)})
    for (const std::string &Change : Some)
      Line += " -D " + shellQuoted(Change);
  return Line;
}

HttpReply Endpoints::exportAs(const Object &Asked) {
  const StringRef Format = Asked.getString("to").value_or("");
  const exporters::Exporter *To = exporters::findExporter(Format);
  if (!To && Format != "command")
    return refuse(400, "`to` is `command` or a format of `foretrace export`");
  return withVariant(Asked, [&](const JobVariant &V) {
    if (!To)
      return reply([&](json::OStream &J) {
        J.attribute("text", json::fixUTF8(commandOf(V)));
      });
    const VariantJob Of(Job, V, MakeEngine());
    const ir::Program *P = Of->program({ir::Fact::Complete});
    std::optional<std::string> Text;
    if (P)
      Text = exporters::exportJob(*To, P->Spec, Job.session().sources(),
                                  Of->engine());
    return reply([&](json::OStream &J) {
      writeDiagnostics(Of->engine(), Job, Job.session().sources(), J);
      if (Text)
        J.attribute("text", json::fixUTF8(*Text));
    });
  });
}

/// Returns whether two variants are the same job.
static bool areSame(LiveJob &Job, const JobVariant &A, const JobVariant &B) {
  const VariantJob First(Job, A), Second(Job, B);
  const ir::Program *P = First->program({ir::Fact::Complete});
  const ir::Program *Q = Second->program({ir::Fact::Complete});
  return P && Q && diff::compareKeys(P->Spec, Q->Spec, true).empty();
}

HttpReply Endpoints::write(const Object &Asked) {
  return withVariant(Asked, [&](const JobVariant &V) {
    const std::string Text = V.Text.value_or(Job.text().str());
    WrittenJob Made = writeChanges(Text, V.Changes);
    if (!areSame(Job, V, {Made.Text, Made.Rest}))
      Made = {Text, V.Changes};
    return reply([&](json::OStream &J) {
      J.attribute("text", json::fixUTF8(Made.Text));
      J.attribute("rest", json::Array(Made.Rest));
    });
  });
}

HttpAnswer Endpoints::answer(bool IsPost, StringRef Path, StringRef Body) {
  using Handler = HttpReply (Endpoints::*)(const Object &);
  static constexpr std::pair<StringLiteral, Handler> Posts[] = {
      {"/compile", &Endpoints::compile}, {"/controls", &Endpoints::controls},
      {"/values", &Endpoints::values},   {"/compare", &Endpoints::compare},
      {"/export", &Endpoints::exportAs}, {"/write", &Endpoints::write}};
  Job.refresh();
  if (!IsPost && (Path == "/" || Path == "/job")) {
    if (Job.hasChanged())
      Job.load(MakeEngine(), [](const auto &...) {});
    return Path == "/" ? page() : job();
  }
  const auto *Known =
      find_if(Posts, [&](const auto &Row) { return Row.first == Path; });
  const bool IsSearch = Path == "/suggest";
  if (Known == std::end(Posts) && !IsSearch)
    return refuse(404, "there is no such page");
  if (!IsPost)
    return refuse(405, "expected a POST");
  constexpr int MostNested = 8;
  Expected<json::Value> Asked = parseJson(Body, MostNested);
  if (!Asked)
    return refuse(400, toString(Asked.takeError()));
  const Object *Of = Asked->getAsObject();
  if (!Of)
    return refuse(400, "the body is no JSON object");
  if (IsSearch)
    return suggest(*Of);
  return (this->*Known->second)(*Of);
}

} // namespace foretrace::explore
