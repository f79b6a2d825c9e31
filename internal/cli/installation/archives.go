package installation

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// checkArchives fails unless each archive has an image of the installation: nodes would wait for
// another one.
func (i *Installer) checkArchives(o install.Options) error {
	needed := []string{o.Agent, o.Controller}
	if o.Components != "" {
		needed = append(needed, o.Components)
	}
	for _, path := range i.Archives {
		images, err := imagesIn(path)
		if err != nil {
			return exit.Usagef("--image-archive: cannot read %s: %w", path, err)
		}
		if !slices.ContainsFunc(images, func(image string) bool { return slices.Contains(needed, image) }) {
			return exit.Usagef("--image-archive: %s has %q, but the installation needs %s", path, images, phrase.List(needed))
		}
	}
	return nil
}

// imagesIn returns the names of the images in an archive, as containerd imports them.
func imagesIn(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for r := tar.NewReader(file); ; {
		header, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("it has no index.json, so it is not an archive of an image")
		case err != nil:
			return nil, err
		case header.Name == "index.json":
			return namesIn(r)
		}
	}
}

// namesIn returns the names of the images in an index.
func namesIn(r io.Reader) (names []string, err error) {
	const most = 1 << 20
	var index struct {
		Manifests []struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"manifests"`
	}
	if err := json.NewDecoder(io.LimitReader(r, most)).Decode(&index); err != nil {
		return nil, fmt.Errorf("cannot decode its index.json: %w", err)
	}
	for _, m := range index.Manifests {
		if name := m.Annotations["io.containerd.image.name"]; name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// importCommand returns the command that imports archives on a host. Other users of the host can
// write to /tmp, so the archives are copied to the home directory.
func importCommand(archives []string, host string) string {
	var files, imports []string
	for _, path := range archives {
		files = append(files, text.Quote(path))
		imports = append(imports, "sudo ctr --namespace k8s.io images import "+text.Quote("./"+filepath.Base(path)))
	}
	return fmt.Sprintf("scp %s %s: && ssh %s %s", strings.Join(files, " "), host, host, text.Quote(strings.Join(imports, " && ")))
}
