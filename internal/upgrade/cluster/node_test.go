package cluster

import (
	"testing"
	"time"
)

func TestIsJoining(t *testing.T) {
	created := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for situation, tt := range map[string]struct {
		node Node
		age  time.Duration
		want bool
	}{
		"ready at once":                  {Node{Ready: Yes, CreatedAt: created, ReadySince: created}, 5 * time.Minute, false},
		"its network does not start":     {Node{Ready: No, CreatedAt: created, ReadySince: created.Add(time.Second)}, 5 * time.Minute, true},
		"it has not reported anything":   {Node{Ready: Unknown, CreatedAt: created}, 5 * time.Minute, true},
		"its kubelet has never answered": {Node{Ready: Unknown, CreatedAt: created, ReadySince: created.Add(65 * time.Second)}, 5 * time.Minute, true},
		"not ready after an hour":        {Node{Ready: No, CreatedAt: created, ReadySince: created.Add(time.Hour)}, 5 * time.Minute, false},
		"not ready for too long":         {Node{Ready: No, CreatedAt: created, ReadySince: created.Add(time.Second)}, 30 * time.Minute, false},
		"lost a minute after it joined":  {Node{Ready: Unknown, CreatedAt: created, ReadySince: created.Add(time.Minute)}, time.Hour, false},
		"of an unknown age":              {Node{Ready: No, ReadySince: created}, 5 * time.Minute, false},
	} {
		t.Run(situation, func(t *testing.T) {
			if got := tt.node.IsJoining(created.Add(tt.age)); got != tt.want {
				t.Errorf("it is joining: %t", got)
			}
		})
	}
}
