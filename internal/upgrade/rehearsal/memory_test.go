package rehearsal_test

import (
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

func TestBound(t *testing.T) {
	const gibibyte = uint64(1 << 30)
	for name, c := range map[string]struct {
		data       rehearsal.Data
		available  uint64
		watchCache bool
		refused    bool
	}{
		"small cluster":                      {rehearsal.Data{Bytes: 2 << 20, Keys: 300}, 2 * gibibyte, true, false},
		"small cluster on a full host":       {rehearsal.Data{Bytes: 2 << 20, Keys: 300}, gibibyte, false, true},
		"8 GB on a large host":               {rehearsal.Data{Bytes: 8 * gibibyte, Keys: 1_000_000}, 64 * gibibyte, true, false},
		"8 GB on a host of 16 GB":            {rehearsal.Data{Bytes: 8 * gibibyte, Keys: 1_000_000}, 8 * gibibyte, false, false},
		"8 GB on a host with little to give": {rehearsal.Data{Bytes: 8 * gibibyte, Keys: 1_000_000}, 2 * gibibyte, false, true},
		"no memory at all":                   {rehearsal.Data{}, 0, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := rehearsal.Bound(c.data, c.available)
			if (err != nil) != c.refused || got.WatchCache != c.watchCache {
				t.Fatalf("%+v, %v", got, err)
			}
			if c.refused && !strings.Contains(err.Error(), "MiB") {
				t.Errorf("%v does not name the amounts", err)
			}
			if got.Etcd+got.APIServer > c.available {
				t.Errorf("%+v exceeds the host", got)
			}
		})
	}
}
