import ArgumentParser
import Glibc
import ProcessHardening

Hardening.begin()
Cofferd.main()
