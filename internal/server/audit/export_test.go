package audit

// Rotate continues the log in another file, for tests that have no 16 MiB of entries.
func (l *Log) Rotate() error { return l.rotate() }
