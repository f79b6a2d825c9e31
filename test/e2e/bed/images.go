package bed

import (
	"path/filepath"
	"slices"
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
	return images(t, "images", "refit-agent="+p.Agent, "refit-controller="+p.Controller)
}

// ComponentsImages builds the container image that `refit install --components` needs in addition.
func ComponentsImages(t *testing.T) []string {
	t.Helper()
	return images(t, "images-components", "refit-components="+BuildComponents(t))
}

// images builds images of binaries into a directory of its own, so that no other test loads them.
func images(t *testing.T, directory string, binaries ...string) []string {
	t.Helper()
	dir := filepath.Join(builds, directory)
	argv := []string{"run", "../../../tools/images", "-repository", imageRepository, "-tag", imageTag, "-to", dir}
	Run(t, "go", slices.Concat(argv, binaries)...)
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	Must(t, err)
	return archives
}
