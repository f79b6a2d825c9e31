package phrase_test

import (
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second:                        "5 s",
		32 * time.Second:                   "30 s",
		59 * time.Second:                   "1 min",
		90 * time.Second:                   "90 s",
		105 * time.Second:                  "2 min",
		2*time.Minute + 20*time.Second:     "2 min",
		9*time.Minute + 20*time.Second:     "9 min",
		89 * time.Minute:                   "89 min",
		3*time.Hour + 21*time.Minute:       "3 h 20 min",
		4 * time.Hour:                      "4 h",
		35*time.Hour + 58*time.Minute:      "36 h",
		7*24*time.Hour + 3*time.Hour:       "7 d 3 h",
		3*24*time.Hour + 20*time.Minute:    "3 d",
		100*24*time.Hour - 29*time.Minute:  "100 d",
		54*time.Second + time.Millisecond:  "55 s",
		89*time.Minute + 50*time.Second:    "90 min",
		time.Hour*36 - 4*time.Minute + 999: "36 h",
	} {
		if got := phrase.Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 4997: "4,997", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := phrase.Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestLists(t *testing.T) {
	if got, want := phrase.Fold([]string{"a", "b", "c", "d", "e"}, 4), "a, b, c, … e"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := phrase.Fold([]string{"a", "b", "c", "d"}, 2), "a, b, c, d"; got != want {
		t.Errorf("got %q, want %q: leaving one out saves nothing", got, want)
	}
	if got, want := phrase.List([]string{"a", "b", "c"}), "a, b and c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
