package clusterupgrade

import (
	"testing"
	"time"
)

func TestAReadingIsRenewedInTime(t *testing.T) {
	const quick, slow = 200 * time.Millisecond, 4 * time.Second
	for name, c := range map[string]struct {
		matters, atWork, outdated bool
		age, took                 time.Duration
		want                      verdict
	}{
		"nothing that matters is decided":              {age: time.Minute, took: quick, want: good},
		"it is fresh":                                  {matters: true, age: 5 * time.Second, took: quick, want: good},
		"it has just ceased to be fresh":               {matters: true, age: 5200 * time.Millisecond, took: quick, want: renew},
		"nobody wanted it for long":                    {matters: true, age: 6 * time.Second, took: quick, want: readFirst},
		"a large cluster's is fresh for longer":        {matters: true, age: 12 * time.Second, took: slow, want: good},
		"a large cluster's is renewed beside":          {matters: true, age: 13 * time.Second, took: slow, want: renew},
		"a large cluster's should have been renewed":   {matters: true, age: 21 * time.Second, took: slow, want: readFirst},
		"a large cluster's, while nodes are at work":   {atWork: true, age: 30 * time.Second, took: slow, want: renew},
		"one of a thousand's, while nodes are at work": {atWork: true, age: 6 * time.Second, took: 600 * time.Millisecond, want: renew},
		"a small cluster's, while nodes are at work":   {atWork: true, age: 10 * time.Second, took: quick, want: good},
		"a control plane node was changed since":       {outdated: true, age: time.Second, took: quick, want: readFirst},
		"it was changed, and something matters":        {matters: true, outdated: true, age: time.Second, took: quick, want: readFirst},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(c.matters, c.atWork, c.outdated, c.age, c.took); got != c.want {
				t.Errorf("the verdict is %d", got)
			}
		})
	}
}
