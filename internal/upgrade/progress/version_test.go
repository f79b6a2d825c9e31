package progress

import (
	"runtime/debug"
	"testing"
)

func TestVersionOfABinary(t *testing.T) {
	recorded := &debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}}
	for situation, c := range map[string]struct {
		version, commit         string
		build                   *debug.BuildInfo
		wantVersion, wantCommit string
	}{
		"a release":        {"v1.2.3", "def", recorded, "v1.2.3", "def"},
		"go install":       {"", "", recorded, "v0.2.0", "abc"},
		"a checkout":       {"", "", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "development", ""},
		"without a record": {"", "", &debug.BuildInfo{}, "development", ""},
	} {
		got := NewVersion(c.version, c.commit, c.build)
		if got.Version != c.wantVersion || got.Commit != c.wantCommit || len(got.Kubernetes) == 0 {
			t.Errorf("%s: %+v", situation, got)
		}
	}
}
