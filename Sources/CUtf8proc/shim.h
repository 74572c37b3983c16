// Unicode normalisation, as the C library declares it. https://juliastrings.github.io/utf8proc/doc/
#pragma once
#include <utf8proc.h>
