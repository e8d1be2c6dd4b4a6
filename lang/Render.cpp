// SPDX-License-Identifier: Apache-2.0
#include "lang/Render.h"
