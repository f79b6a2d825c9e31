package cluster

import (
	"testing"
	"time"
)

func TestIsJoining(t *testing.T) {
	created := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for situation, tt := range map[string]struct {
		node Node
		want bool
	}{
		"ready at once":                  {Node{Ready: Yes, CreatedAt: created, ReadySince: created}, false},
		"its network does not start":     {Node{Ready: No, CreatedAt: created, ReadySince: created.Add(time.Second)}, true},
		"it has not reported anything":   {Node{Ready: Unknown, CreatedAt: created}, true},
		"its kubelet has never answered": {Node{Ready: Unknown, CreatedAt: created, ReadySince: created.Add(65 * time.Second)}, true},
		"not ready after an hour":        {Node{Ready: No, CreatedAt: created, ReadySince: created.Add(time.Hour)}, false},
		"of an unknown age":              {Node{Ready: No, ReadySince: created}, false},
	} {
		t.Run(situation, func(t *testing.T) {
			if got := tt.node.IsJoining(); got != tt.want {
				t.Errorf("it is joining: %t", got)
			}
		})
	}
}
