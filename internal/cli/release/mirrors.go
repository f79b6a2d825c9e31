package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/cli/exit"
)

// MirrorsName is the name of the file in the user's configuration that replaces addresses of
// upstream.
const MirrorsName = "upstream.yaml"

// mirrors are the addresses of the file. Those that are missing are upstream's own.
type mirrors struct {
	Downloads           string   `json:"downloads"`
	ContainerdDownloads string   `json:"containerdDownloads"`
	RuncDownloads       string   `json:"runcDownloads"`
	CNIDownloads        string   `json:"cniDownloads"`
	Packages            string   `json:"packages"`
	PackageKeys         []string `json:"packageKeys"`
	AcceptDigests       []string `json:"acceptDigests"`
	ImageRepository     string   `json:"imageRepository"`
	ImageMirror         string   `json:"imageMirror"`
}

// readMirrors reads the user's mirrors, which need not exist.
func readMirrors() (out mirrors, err error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return out, nil //nolint:nilerr // without a home directory there is no configuration
	}
	path := filepath.Join(dir, "refit", MirrorsName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("cannot read the mirrors: %w", err)
	}
	if err := yaml.UnmarshalStrict(raw, &out); err != nil {
		return out, exit.Usagef("cannot read the mirrors in %s: %w", path, err)
	}
	return out, nil
}

// useMirrors replaces the addresses of upstream that no flag sets by the user's mirrors.
func (c *Creation) useMirrors(given func(flag string) bool) error {
	found, err := readMirrors()
	if err != nil {
		return err
	}
	for flag, field := range map[string]struct {
		to   *string
		from string
	}{
		"downloads":            {&c.Servers.Downloads, found.Downloads},
		"containerd-downloads": {&c.Servers.ContainerdDownloads, found.ContainerdDownloads},
		"runc-downloads":       {&c.Servers.RuncDownloads, found.RuncDownloads},
		"cni-downloads":        {&c.Servers.CNIDownloads, found.CNIDownloads},
		"packages":             {&c.Servers.Packages, found.Packages},
		"image-repository":     {&c.Servers.Repository, found.ImageRepository},
		"image-mirror":         {&c.Servers.Mirror, found.ImageMirror},
	} {
		if field.from != "" && !given(flag) {
			*field.to = field.from
		}
	}
	c.repositoryGiven = given("image-repository") || found.ImageRepository != ""
	if len(found.PackageKeys) > 0 && !given("package-key") {
		c.Servers.PackageKeys = found.PackageKeys
	}
	c.Servers.AcceptDigests = append(c.Servers.AcceptDigests, found.AcceptDigests...)
	return nil
}
