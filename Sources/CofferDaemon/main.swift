import CofferFiles
import Glibc

Hardening.begin()
exit(Cofferd.start())
