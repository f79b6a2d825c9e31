package lastknown_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/lastknown"
)

func saved(t *testing.T) *lastknown.File {
	t.Helper()
	f := &lastknown.File{Directory: t.TempDir(), Cluster: "prod", Server: "https://10.0.0.1:6443"}
	c := operations.NewCopy()
	c.Operations["op"] = &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op"}}
	c.Nodes["worker-1"] = operations.NodeFacts{Name: "worker-1", Kubelet: "v1.36.3"}
	c.APIServers = []string{"10.0.0.2:6443"}
	c.API.CurrentAt = time.Date(2026, 11, 19, 3, 0, 0, 0, time.UTC)
	if err := f.Save(&c); err != nil {
		t.Fatal(err)
	}
	return f
}

func path(f *lastknown.File) string { return filepath.Join(f.Directory, "last-known.json") }

func TestTheStateIsReadBackWithItsAge(t *testing.T) {
	f := saved(t)
	c, err := f.Load()
	if err != nil || c.Operations["op"] == nil || c.Nodes["worker-1"].Kubelet != "v1.36.3" || len(c.APIServers) != 1 || c.API.CurrentAt.Hour() != 3 || c.API.Reachable() {
		t.Errorf("%+v, %v", c, err)
	}
	info, err := os.Stat(path(f))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAStateThatWasNeverReadIsNotWritten(t *testing.T) {
	f := &lastknown.File{Directory: t.TempDir(), Cluster: "prod"}
	c := operations.NewCopy()
	if err := f.Save(&c); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path(f)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	if c, err := f.Load(); err != nil || c.Operations == nil {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestForeignAndCorruptFilesAreIgnored(t *testing.T) {
	f := saved(t)
	other := *f
	other.Server = "https://10.0.0.2:6443"
	if c, err := other.Load(); !errors.Is(err, lastknown.ErrForeign) || len(c.Operations) != 0 {
		t.Errorf("of another cluster: %+v, %v", c, err)
	}
	content, err := os.ReadFile(path(f))
	if err != nil {
		t.Fatal(err)
	}
	for situation, text := range map[string]string{
		"cut off": string(content[:len(content)/2]), "empty": "", "other format": `{"Format":"other"}`,
		"later version": `{"Format":"refit-last-known","Version":99,"Cluster":"prod","Server":"https://10.0.0.1:6443","CurrentAt":"2026-11-19T03:00:00Z"}`,
	} {
		if err := os.WriteFile(path(f), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := f.Load(); err == nil || len(c.Operations) != 0 {
			t.Errorf("%s: %+v, %v", situation, c, err)
		}
	}
}
