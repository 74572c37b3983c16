// SQLite, and the error type of all benchmarks.
@_exported import BenchmarkKit
@_exported import CBaseline
