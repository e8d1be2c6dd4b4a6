// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Progress.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::sweep {

ProgressPrinter::ProgressPrinter(int64_t Points, bool IsJSON, bool IsQuiet)
    : Points(Points), IsJSON(IsJSON),
      IsLine(!IsJSON && !IsQuiet && errs().is_displayed()) {}

/// Whether something is to be shown: not too often, and in the end.
bool ProgressPrinter::isDue(bool IsLast) {
  constexpr std::chrono::milliseconds Pause(200);
  const Clock::time_point Now = Clock::now();
  if ((!IsJSON && !IsLine) || (Now - Shown < Pause && !IsLast))
    return false;
  Shown = Now;
  return true;
}

void ProgressPrinter::showEmitted(size_t Done, size_t Of) {
  if (!isDue(Done == Of))
    return;
  if (!IsJSON) {
    errs() << formatv("\r\x1b[K{0} of {1} points emitted", Done, Of);
    return;
  }
  json::OStream J(errs());
  J.object([&] {
    J.attribute("emitted", static_cast<int64_t>(Done));
    J.attribute("of", static_cast<int64_t>(Of));
  });
  errs() << '\n';
}

/// Of the best point so far.
static int64_t bestValue(const Summary &At) {
  const int64_t Value = At.Best.kept().front().Values.front();
  return At.Best.choice().By.front().IsLargest ? -Value : Value;
}

void ProgressPrinter::show(const Summary &At) {
  if (!isDue(At.Points == Points))
    return;
  if (!Before)
    Before = At.Points;
  const double Seconds = std::chrono::duration<double>(Shown - Start).count();
  const double Rate =
      static_cast<double>(At.Points - *Before) / std::max(Seconds, 1e-3);
  const double Left =
      Rate > 0 ? static_cast<double>(Points - At.Points) / Rate : 0;
  const bool IsBest = !At.Best.kept().empty();
  if (IsJSON) {
    json::OStream J(errs());
    J.object([&] {
      J.attribute("points", At.Points);
      J.attribute("of", Points);
      J.attribute("accepted", At.Accepted);
      if (IsBest) {
        J.attribute("best", bestValue(At));
        J.attribute("best_point", At.Best.kept().front().Id);
      }
      J.attribute("rate", static_cast<int64_t>(Rate));
      J.attribute("seconds_left", static_cast<int64_t>(Left));
    });
    errs() << '\n';
    return;
  }
  errs() << formatv(
      "\r\x1b[K{0:f1} % of {1} points, {2} accepted, {3:f1} "
      "million/s, {4:f0} s left{5}",
      100 * static_cast<double>(At.Points) / static_cast<double>(Points),
      Points, At.Accepted, Rate / 1e6, Left,
      IsBest ? formatv(", best {0} = {1}", At.Best.choice().By.front().Metric,
                       bestValue(At))
                   .str()
             : "");
}

void ProgressPrinter::clear() {
  if (IsLine)
    errs() << "\r\x1b[K";
}

} // namespace foretrace::sweep
