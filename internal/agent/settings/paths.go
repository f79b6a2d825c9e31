package settings

import "path/filepath"

func (s *Settings) path(name ...string) string {
	return filepath.Join(append([]string{s.StateDir}, name...)...)
}

// LockFile returns the path of the lock that prevents a second agent on this host.
func (s *Settings) LockFile() string { return s.path("lock") }

// StateFile returns the path of the state that the host keeps across orders.
func (s *Settings) StateFile() string { return s.path("state.json") }

// StoreDir returns the directory of files by digest.
func (s *Settings) StoreDir() string { return s.path("store") }

// ReleasesDir returns the directory of accepted signed envelopes.
func (s *Settings) ReleasesDir() string { return s.path("releases") }

// UpgradesDir returns the directory of upgrades, each with its journal and its saved files.
func (s *Settings) UpgradesDir() string { return s.path("upgrades") }

// BackupsDir returns the directory of backups in progress, each with its journal.
func (s *Settings) BackupsDir() string { return s.path("backups") }

// RehearsalDir returns the scratch directory of drills and rehearsals.
func (s *Settings) RehearsalDir() string { return s.path("rehearsal") }

// RehearsalLock returns the path of the lock that prevents two rehearsals.
func (s *Settings) RehearsalLock() string { return s.RehearsalDir() + ".lock" }

// ReserveFile returns the path of the reserved disk space.
func (s *Settings) ReserveFile() string { return s.path("reserve") }

// BackupRecords is the file that lists the last backups and their stores, for a restore without the
// API.
func (s *Settings) BackupRecords() string { return s.path("backups.json") }

// RestoresDir is the directory of restores of etcd.
func (s *Settings) RestoresDir() string { return s.path("restores") }
