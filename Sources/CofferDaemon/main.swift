import CofferFiles
import Glibc

Hardening.begin()
ProgramArguments.check()
exit(Cofferd.start())
