package orders

import (
	"math"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestNextLeaderStartsAboveWhatHostsAccepted(t *testing.T) {
	now := time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		epochs []int64
		want   int64
	}{
		"no epoch":                         {nil, 0},
		"after a restore of etcd":          {[]int64{3, 41, 40}, 41},
		"raised by a forged order":         {[]int64{3, now.Unix(), 4}, now.Unix()},
		"report of a compromised host":     {[]int64{3, math.MaxInt64, 4}, 4},
		"report that only hosts accept":    {[]int64{3, node.MaxFence(now), 4}, 4},
		"the same report once time passed": {[]int64{3, now.Unix() - 60, 4}, now.Unix() - 60},
	} {
		t.Run(name, func(t *testing.T) {
			got := HighestEpoch(now, tt.epochs...)
			if got != tt.want || got+1 > node.MaxFence(now) {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
