// Empty: the target replaces a function of the C library.
