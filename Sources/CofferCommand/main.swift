import CofferFiles
import Glibc

Hardening.begin(startsPrograms: true)
if ProgramMonitor.isCalled { ProgramMonitor.run() }
exit(Coffer.start())
