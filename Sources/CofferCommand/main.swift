import CofferFiles
import Glibc

Hardening.begin(startsPrograms: true)
ProgramArguments.check()
if ProgramMonitor.isCalled { ProgramMonitor.run() }
exit(Coffer.start())
