// libsodium, as the C library declares it. https://doc.libsodium.org
#pragma once
#include <sodium.h>
