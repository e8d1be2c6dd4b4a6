// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Progress.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::sweep {

ProgressPrinter::ProgressPrinter(int64_t Points, bool IsJSON, bool IsQuiet)
    : Points(Points), IsJSON(IsJSON),
      IsLine(!IsJSON && !IsQuiet && errs().is_displayed()) {}

void ProgressPrinter::show(const Summary &At) {
  constexpr std::chrono::milliseconds Pause(200);
  const Clock::time_point Now = Clock::now();
  if ((!IsJSON && !IsLine) || (Now - Shown < Pause && At.Points != Points))
    return;
  Shown = Now;
  if (!Before)
    Before = At.Points;
  const double Seconds = std::chrono::duration<double>(Now - Start).count();
  const double Rate =
      static_cast<double>(At.Points - *Before) / std::max(Seconds, 1e-3);
  const double Left =
      Rate > 0 ? static_cast<double>(Points - At.Points) / Rate : 0;
  if (IsJSON) {
    json::OStream J(errs());
    J.object([&] {
      J.attribute("points", At.Points);
      J.attribute("of", Points);
      J.attribute("accepted", At.Accepted);
      J.attribute("rate", static_cast<int64_t>(Rate));
      J.attribute("seconds_left", static_cast<int64_t>(Left));
    });
    errs() << '\n';
    return;
  }
  errs() << formatv("\r\x1b[K{0:f1} % of {1} points, {2} accepted, {3:f1} "
                    "million/s, {4:f0} s left",
                    100 * static_cast<double>(At.Points) /
                        static_cast<double>(Points),
                    Points, At.Accepted, Rate / 1e6, Left);
}

void ProgressPrinter::clear() {
  if (IsLine)
    errs() << "\r\x1b[K";
}

} // namespace foretrace::sweep
