import Glibc
import ProcessHardening

Hardening.begin()
exit(Coffer.start())
