package progress

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLongStepIsReportedAtEveryHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := New(&out)
		err := r.Step("build kubernetes", 8*time.Minute, func() error {
			time.Sleep(70 * time.Second)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join([]string{
			"    0.0s  build kubernetes … (usually about 8m00s)",
			"   30.0s  build kubernetes: running for 30.0s (usually about 8m00s)",
			"   1m00s  build kubernetes: running for 1m00s (usually about 8m00s)",
			"   1m10s  build kubernetes: 1m10s",
			"",
		}, "\n")
		if out.String() != want {
			t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
		}
	})
}

func TestFailedStepIsReportedAndReturnsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := New(&out)
		cause := errors.New("no space left")
		if err := r.Step("copy", 0, func() error { return cause }); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		if !strings.Contains(out.String(), "copy: failed after 0.0s") {
			t.Errorf("got %q", out.String())
		}
	})
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond:         "0.4s",
		59*time.Second + 940e6:         "59.9s",
		3*time.Minute + 5*time.Second:  "3m05s",
		2*time.Hour + 7*time.Minute:    "2h07m",
		59*time.Minute + 59700e6:       "1h00m",
		61*time.Second + 600*1_000_000: "1m02s",
	} {
		if got := Seconds(d); got != want {
			t.Errorf("Seconds(%d) = %s, want %s", d, got, want)
		}
	}
}
