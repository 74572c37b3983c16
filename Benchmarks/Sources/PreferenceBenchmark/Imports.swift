// SQLite, and the error that all of the benchmarks throw.
@_exported import BenchmarkKit
@_exported import CBaseline
