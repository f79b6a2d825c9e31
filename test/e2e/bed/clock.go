package bed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// BuildAhead builds a command whose clock is ahead. All hosts of a testbed share the kernel's
// clock, so the binary is built with another time.Now.
func BuildAhead(t *testing.T, name string, by time.Duration) string {
	t.Helper()
	source := filepath.Join(runtime.GOROOT(), "src/time/time.go") //nolint:staticcheck // the tests run where they are built
	text, err := os.ReadFile(source)
	Must(t, err)
	const now = "sec, nsec, mono := runtimeNow()\n"
	ahead := strings.Replace(string(text), now, now+fmt.Sprintf("\tsec += %d\n", int(by.Seconds())), 1)
	if ahead == string(text) {
		t.Fatalf("%s has no %q: adapt this to the new version of Go", source, now)
	}
	dir := t.TempDir()
	replaced, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	Must(t, os.WriteFile(replaced, []byte(ahead), 0o600))
	files, err := json.Marshal(map[string]map[string]string{"Replace": {source: replaced}})
	Must(t, err)
	Must(t, os.WriteFile(overlay, files, 0o600))
	binary, err := compile(name, name+"-ahead", "-overlay="+overlay)
	Must(t, err)
	return binary
}
