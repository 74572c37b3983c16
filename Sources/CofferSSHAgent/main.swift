import CofferFiles
import Glibc

Hardening.begin(startsPrograms: true)
exit(SSHAgentProgram.start())
