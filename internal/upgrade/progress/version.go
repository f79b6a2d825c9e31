package progress

import (
	"cmp"
	"runtime"
	"runtime/debug"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// NewVersion returns the document about a binary. The build of a release sets version and commit;
// those of other builds follow from what Go records.
func NewVersion(version, commit string, build *debug.BuildInfo) cliv1alpha1.Version {
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" {
			commit = cmp.Or(commit, setting.Value)
		}
	}
	return cliv1alpha1.Version{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindVersion,
		Version: cmp.Or(version, builtVersion(build)), Commit: commit,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Kubernetes: kubefacts.Supported(),
	}
}

// builtVersion is the version of a binary that was built by `go install module@version`, and
// "development" if it was built in a checkout.
func builtVersion(build *debug.BuildInfo) string {
	if v := build.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "development"
}
