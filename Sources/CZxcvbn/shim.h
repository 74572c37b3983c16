// Estimates how many guesses a passphrase withstands. https://github.com/tsyrogit/zxcvbn-c
#pragma once
#include <zxcvbn.h>
