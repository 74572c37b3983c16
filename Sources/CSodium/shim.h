// libsodium, as the C library declares it. https://doc.libsodium.org
#pragma once
// As in CLinux: two modules that see a type of the system in two forms cannot be used together.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sodium.h>
