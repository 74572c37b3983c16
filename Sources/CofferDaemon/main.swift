import Glibc
import ProcessHardening

Hardening.begin()
exit(Cofferd.start())
