import CofferFiles
import Glibc

Hardening.begin(startsPrograms: true)
exit(Coffer.start())
