import CofferFiles
import Glibc

Hardening.begin()
exit(Coffer.start())
