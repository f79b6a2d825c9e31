package bed

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// describeBefore is how long before the limit of `go test -timeout` a test that hangs is described.
const describeBefore = 2 * time.Minute

// EndBeforeDeadline describes a test that hangs and ends the process before `go test` does, whose
// dump of all goroutines would hide why.
func EndBeforeDeadline(t *testing.T, describe func()) {
	t.Helper()
	deadline, ok := t.Deadline()
	if !ok {
		return
	}
	timer := time.AfterFunc(time.Until(deadline)-describeBefore, func() {
		t.Errorf("the test hangs: %s before its limit it runs\n%s", describeBefore, testStacks())
		describe()
		os.Exit(1)
	})
	t.Cleanup(func() { timer.Stop() })
}

// testStacks returns the stacks of the goroutines that run tests.
func testStacks() string {
	text := make([]byte, 8<<20)
	text = text[:runtime.Stack(text, true)]
	var tests []string
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		if strings.Contains(stack, "testing.tRunner(") && !strings.Contains(stack, "testing.(*T).Run(") {
			tests = append(tests, stack)
		}
	}
	return strings.Join(tests, "\n\n")
}
