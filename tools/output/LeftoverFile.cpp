// SPDX-License-Identifier: Apache-2.0
#include "tools/output/LeftoverFile.h"
#include <unistd.h>

using namespace foretrace;

void LeftoverFile::remove() noexcept { (void)::unlink(Path.c_str()); }
