// Nothing is declared here: memo.c stands for functions of libsodium in the program that links it.
