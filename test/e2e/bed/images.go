package bed

import (
	"path/filepath"
	"testing"
)

// What images of programs that were built here are called: as `refit install` of the same build looks for them.
const (
	imageRepository = "ghcr.io/refit-dev"
	imageTag        = "development"
)

// Images makes the container images that `refit install` asks for, and returns their archives.
func (p Programs) Images(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(builds, "images")
	Run(t, "go", "run", "../../../tools/images", "-repository", imageRepository, "-tag", imageTag, "-to", dir,
		"refit-agent="+p.Agent, "refit-controller="+p.Controller)
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	Must(t, err)
	return archives
}
