package rehearsal_test

import (
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

func TestCompare(t *testing.T) {
	record := rehearsal.Figures{Revision: 1973, Keys: 308, Hash: 7, Entries: 900, EntriesHash: 3, HashKV: 9, HashRevision: 1973, CompactRevision: 1549}
	for name, c := range map[string]struct {
		expected rehearsal.Figures
		change   func(*rehearsal.Figures)
		want     string
	}{
		"same":             {record, func(*rehearsal.Figures) {}, ""},
		"no record":        {rehearsal.Figures{}, func(*rehearsal.Figures) {}, ""},
		"older revision":   {record, func(f *rehearsal.Figures) { f.Revision-- }, "revision is 1972"},
		"missing key":      {record, func(f *rehearsal.Figures) { f.Keys-- }, "number of keys is 307"},
		"other file":       {record, func(f *rehearsal.Figures) { f.Hash++ }, "hash of the file is 8"},
		"missing entry":    {record, func(f *rehearsal.Figures) { f.Entries-- }, "number of entries is 899"},
		"other entries":    {record, func(f *rehearsal.Figures) { f.EntriesHash++ }, "hash of the entries is 4"},
		"other content":    {record, func(f *rehearsal.Figures) { f.HashKV++ }, "hash of the keys is 10"},
		"other compaction": {record, func(f *rehearsal.Figures) { f.CompactRevision = 1 }, "covers the revisions 1 to 1973"},
	} {
		t.Run(name, func(t *testing.T) {
			restored := record
			c.change(&restored)
			err := rehearsal.Compare(c.expected, restored)
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
