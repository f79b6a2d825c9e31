package installation

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/install"
)

// archive writes an archive with a file.
func archive(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "refit-agent.tar")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(file)
	for _, each := range [][2]string{{"blobs/sha256/x", "a layer"}, {name, content}} {
		err = w.WriteHeader(&tar.Header{Name: each[0], Size: int64(len(each[1])), Mode: 0o644})
		if err == nil {
			_, err = w.Write([]byte(each[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestArchivesHaveImagesOfTheInstallation(t *testing.T) {
	index := func(name string) string {
		return fmt.Sprintf(`{"manifests":[{"annotations":{"io.containerd.image.name":%q}}]}`, name)
	}
	options := install.Options{Agent: "ghcr.io/refit-dev/refit-agent:v1", Controller: "ghcr.io/refit-dev/refit-controller:v1"}
	components := options
	components.Components = "ghcr.io/refit-dev/refit-components:v1"
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for situation, c := range map[string]struct {
		path, want string
		options    install.Options
	}{
		"the agent":           {archive(t, "index.json", index(options.Agent)), "", options},
		"the controller":      {archive(t, "index.json", index(options.Controller)), "", options},
		"refit-components":    {archive(t, "index.json", index(components.Components)), "", components},
		"not to be installed": {archive(t, "index.json", index(components.Components)), "but the installation needs", options},
		"another version":     {archive(t, "index.json", index("ghcr.io/refit-dev/refit-agent:v2")), "but the installation needs", options},
		"no name":             {archive(t, "index.json", `{"manifests":[{}]}`), "but the installation needs", options},
		"no index":            {archive(t, "manifest.json", "[]"), "not an archive of an image", options},
		"a damaged index":     {archive(t, "index.json", "{"), "cannot decode", options},
		"not an archive":      {text, "cannot read", options},
		"a file that is not":  {text + "-missing", "cannot read", options},
	} {
		err := (&Installer{Archives: []string{c.path}}).checkArchives(c.options)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", situation, err, c.want)
		}
	}
}

func TestImportIsPrintedOnceForEachNode(t *testing.T) {
	var out strings.Builder
	r := &reporter{out: &out, done: "placed", archives: []string{"bin/refit agent.tar", "refit-controller.tar"}}
	for _, state := range []install.State{install.Waiting, install.Pulling, install.Failing, install.Done} {
		r.node(install.NodeProgress{Node: "cp-1", State: state}, 0, 2)
	}
	r.node(install.NodeProgress{Node: "cp-2", State: install.Done}, 1, 2) // it has them
	want := "scp 'bin/refit agent.tar' refit-controller.tar cp-1: && ssh cp-1 " +
		"'sudo ctr --namespace k8s.io images import '\\''./refit agent.tar'\\'' && sudo ctr --namespace k8s.io images import ./refit-controller.tar'"
	if strings.Count(out.String(), "scp ") != 1 || !strings.Contains(out.String(), want) {
		t.Errorf("%s", out.String())
	}
}
