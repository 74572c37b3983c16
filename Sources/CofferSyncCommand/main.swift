import CofferFiles
import Glibc

Hardening.begin(startsPrograms: true)
exit(SyncProgram.start())
