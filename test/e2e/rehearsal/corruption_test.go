//go:build e2e

package rehearsal

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// damage changes a snapshot of etcd. Older is one of the same cluster, taken before.
type damage func(random *rand.Rand, snapshot, older []byte) []byte

// damages are in the order in which they are applied in turn.
var damages = []struct {
	name  string
	apply damage
}{
	{"a bit is flipped", func(random *rand.Rand, snapshot, _ []byte) []byte {
		snapshot[random.IntN(len(snapshot))] ^= 1 << random.IntN(8)
		return snapshot
	}},
	{"its end is missing", func(random *rand.Rand, snapshot, _ []byte) []byte { return snapshot[:random.IntN(len(snapshot))] }},
	{"two pages are swapped", func(random *rand.Rand, snapshot, _ []byte) []byte {
		const page = 4096
		for {
			a, b := random.IntN(len(snapshot)/page)*page, random.IntN(len(snapshot)/page)*page
			if one, other := bytes.Clone(snapshot[a:a+page]), snapshot[b:b+page]; !bytes.Equal(one, other) {
				copy(snapshot[a:], other)
				copy(snapshot[b:], one)
				return snapshot
			}
		}
	}},
	{"it is an older one", func(_ *rand.Rand, _, older []byte) []byte { return older }},
	{"it begins like an older one", func(_ *rand.Rand, snapshot, older []byte) []byte {
		return append(bytes.Clone(older[:len(older)/2]), snapshot[len(older)/2:]...)
	}},
}

// testCorruptions damages the snapshot REFIT_DRILLS times (100): the drill must refuse each.
func (s *site) testCorruptions(t *testing.T) {
	s.backUp(t)
	older := s.snapshot(t)
	_, err := s.Kubectl(t.Context(), nil, "create", "configmap", "newer")
	bed.Must(t, err)
	s.backUp(t)
	snapshot := s.snapshot(t)
	good, err := s.run(t, figures{}, false)
	bed.Must(t, err)
	random := rand.New(rand.NewPCG(14, 0))
	drills, accepted := bed.Count(t, "REFIT_DRILLS", 100), 0
	for i := range drills {
		damage := damages[i%len(damages)]
		s.replace(t, damage.apply(random, bytes.Clone(snapshot), older))
		if _, err := s.run(t, good.Figures, false); err == nil {
			accepted++
			t.Errorf("drill %d is accepted: %s", i, damage.name)
		}
	}
	s.replace(t, snapshot)
	if _, err := s.run(t, good.Figures, false); err != nil {
		t.Errorf("the intact snapshot is refused: %v", err)
	}
	bed.Show(t, "drills_of_damaged_backups", float64(drills), "drills")
	bed.Show(t, "drills_accepted", float64(accepted), "drills")
	s.nothingLeft(t)
}

// snapshot reads the backup from the host.
func (s *site) snapshot(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup.db")
	bed.Must(t, s.cp.CopyFrom(t.Context(), backupFile, file))
	content, err := os.ReadFile(file)
	bed.Must(t, err)
	if len(content) < 1<<16 {
		t.Fatalf("the snapshot has %d bytes", len(content))
	}
	return content
}

// replace replaces the backup on the host.
func (s *site) replace(t *testing.T, content []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup.db")
	bed.Must(t, os.WriteFile(file, content, 0o600))
	bed.Must(t, s.cp.CopyTo(t.Context(), file, backupFile))
}
