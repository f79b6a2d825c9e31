package bed

import (
	"path/filepath"
	"testing"
)

// Names of the images of local builds, which `refit install` of the same build uses.
const (
	imageRepository = "ghcr.io/refit-dev"
	imageTag        = "development"
)

// Images builds the container images that `refit install` needs and returns their archives.
func (p Binaries) Images(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(builds, "images")
	Run(t, "go", "run", "../../../tools/images", "-repository", imageRepository, "-tag", imageTag, "-to", dir,
		"refit-agent="+p.Agent, "refit-controller="+p.Controller)
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	Must(t, err)
	return archives
}
