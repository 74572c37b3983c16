import CofferFiles
import Glibc

Hardening.begin(startsPrograms: true)
ProgramArguments.check()
exit(SSHAgentProgram.start())
