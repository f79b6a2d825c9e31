package machine

import (
	"strings"
	"testing"
	"time"
)

func TestTimeoutsOfSlowMachines(t *testing.T) {
	for value, want := range map[string]time.Duration{"": time.Minute, "1": time.Minute, "20": 20 * time.Minute} {
		t.Setenv(timeoutFactorVariable, value)
		if got := Timeout(time.Minute); got != want {
			t.Errorf("with %q: %s, want %s", value, got, want)
		}
		must(t, Require())
	}
}

func TestInvalidTimeoutFactorIsReported(t *testing.T) {
	for _, value := range []string{"0", "-1", "1.5", "101", "20m"} {
		t.Setenv(timeoutFactorVariable, value)
		if err := Require(); err == nil || !strings.Contains(err.Error(), timeoutFactorVariable) {
			t.Errorf("with %q: %v", value, err)
		}
		if got := Timeout(time.Minute); got != time.Minute {
			t.Errorf("with %q: %s", value, got)
		}
	}
}
