package installation

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// installer has a release key, beside which an identity can be created.
func installer(t *testing.T) (i *Installer, identity string) {
	t.Helper()
	dir := t.TempDir()
	return &Installer{Choice: Choice{KeyFiles: []string{filepath.Join(dir, "refit-release.pem")}}}, filepath.Join(dir, etcdbackup.IdentityFile)
}

func TestTheIdentityIsCreatedOnce(t *testing.T) {
	i, path := installer(t)
	first, stores, err := i.prepareBackups(install.Existing{}, true)
	if err != nil || !first.Created || first.Identity != path || len(first.Recipients) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	before, err := os.ReadFile(path)
	if err != nil || strings.Contains(stores, "SECRET") || !strings.Contains(stores, first.Recipients[0]) || !strings.Contains(stores, etcdbackup.LocalDirectory) {
		t.Errorf("the pins are %q, %v", stores, err)
	}
	second, again, err := i.prepareBackups(install.Existing{Stores: stores}, true)
	if err != nil || second.Created || second.Recipients[0] != first.Recipients[0] || again != stores {
		t.Errorf("the second time: %+v, %q, %v", second, again, err)
	}
	// The cluster lost its ConfigMap.
	third, again, err := i.prepareBackups(install.Existing{}, true)
	if err != nil || third.Created || third.Recipients[0] != first.Recipients[0] || again != stores {
		t.Errorf("the third time: %+v, %q, %v", third, again, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the identity was overwritten: %v", err)
	}
}

func TestBackupsWithoutANewIdentity(t *testing.T) {
	_, recipient, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	const written = "# mine\nrecipients: [age1mine]\nlocations: [/mnt]\n"
	for situation, c := range map[string]struct {
		change    func(*Installer)
		existing  string
		mayCreate bool
		want      string // in the pins; empty if there are no backups
	}{
		"a dry run":                {func(*Installer) {}, "", false, ""},
		"no release key is given":  {func(i *Installer) { i.KeyFiles = nil }, "", true, ""},
		"a recipient":              {func(i *Installer) { i.Backups.Recipients = []string{recipient} }, "", true, recipient},
		"a recipient in a dry run": {func(i *Installer) { i.Backups.Recipients = []string{recipient} }, "", false, recipient},
		"pins of an owner":         {func(*Installer) {}, written, true, "age1mine"},
		"a further recipient":      {func(i *Installer) { i.Backups.Recipients = []string{recipient} }, written, true, recipient},
	} {
		i, path := installer(t)
		c.change(i)
		got, stores, err := i.prepareBackups(install.Existing{Stores: c.existing}, c.mayCreate)
		if err != nil || (got == nil) != (c.want == "") || !strings.Contains(stores, c.want) {
			t.Errorf("%s: %+v, %q, %v", situation, got, stores, err)
		}
		if c.existing != "" && !strings.Contains(stores, "/mnt") {
			t.Errorf("%s: the pins of the owner are lost: %q", situation, stores)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: an identity was created", situation)
		}
	}
}

// The BackupStore keeps its recipients, so a new identity would decrypt none of its backups.
func TestNoIdentityIsCreatedWhileBackupsHaveRecipients(t *testing.T) {
	i, path := installer(t)
	i.Backups.Identity = path
	got, _, err := i.prepareBackups(install.Existing{Stores: "recipients: [age1mine]\nlocations: [/mnt]\n"}, true)
	if err == nil || !strings.Contains(err.Error(), "age1mine") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("an identity was created")
	}
}

func TestAnUnusableIdentityIsAnError(t *testing.T) {
	i, path := installer(t)
	if err := os.WriteFile(path, []byte("AGE-SECRET-KEY-1BROKEN\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := i.prepareBackups(install.Existing{}, true); err == nil || strings.Contains(err.Error(), "BROKEN") {
		t.Errorf("got %v", err)
	}
	i.Backups.Identity = filepath.Join(path, "below-a-file")
	if _, _, err := i.prepareBackups(install.Existing{}, true); err == nil {
		t.Error("an identity that cannot be written is ignored")
	}
}
