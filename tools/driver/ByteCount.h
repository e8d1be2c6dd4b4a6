// SPDX-License-Identifier: Apache-2.0
//
// Numbers of bytes as people write them; lang/NumberText.h prints them.
#pragma once

#include "llvm/Support/CommandLine.h"
#include <optional>

namespace foretrace::driver {

/// `1000`, `64GiB` or `1.5 TB`; nothing for what is none, or 2^64 and more.
std::optional<uint64_t> parseBytes(llvm::StringRef Text);

/// The parser of such an option for LLVM's CommandLine.
class BytesParser : public llvm::cl::parser<unsigned long long> {
public:
  explicit BytesParser(llvm::cl::Option &O) : parser(O) {}
  bool parse(llvm::cl::Option &O, llvm::StringRef, llvm::StringRef Text,
             unsigned long long &Count);
};

} // namespace foretrace::driver
