package installation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// BackupChoice is how the user wants backups to be encrypted.
type BackupChoice struct {
	Recipients []string // age public keys; empty: that of Identity
	Identity   string   // the file; empty: etcdbackup.IdentityFile beside the release key
}

// Check validates the recipients.
func (c *BackupChoice) Check() error {
	if len(c.Recipients) > 0 && c.Identity != "" {
		return exit.Usagef("--backup-recipient and --backup-key exclude each other")
	}
	if len(c.Recipients) == 0 {
		return nil
	}
	if _, err := seal.Recipients(c.Recipients); err != nil {
		return exit.Usagef("--backup-recipient: %w", err)
	}
	return nil
}

// prepareBackups returns how backups are set up, and the pins for control plane hosts. The pins of
// an earlier install stay. Both are empty if there is neither a recipient nor a place for a new
// identity. With mayCreate, an identity is created; it never leaves this machine, and is never
// overwritten.
func (i *Installer) prepareBackups(existing install.Existing, mayCreate bool) (*cliv1alpha1.InstallBackups, string, error) {
	var pins etcdbackup.Pins
	if err := yaml.UnmarshalStrict([]byte(existing.Stores), &pins); err != nil {
		return nil, "", fmt.Errorf("cannot read stores.yaml in the ConfigMap refit-agent: %w", err)
	}
	out := &cliv1alpha1.InstallBackups{Store: etcdbackup.LocalStore, Directory: etcdbackup.LocalDirectory, Recipients: i.Backups.Recipients}
	if len(out.Recipients) == 0 {
		out.Recipients = pins.Recipients
	}
	if err := i.checkIdentity(pins.Recipients); err != nil {
		return nil, "", err
	}
	if len(out.Recipients) == 0 || i.Backups.Identity != "" {
		if err := i.readIdentity(out, mayCreate); err != nil || len(out.Recipients) == 0 {
			return nil, existing.Stores, err
		}
	}
	added := add(&pins.Recipients, out.Recipients...)
	added = add(&pins.Locations, out.Directory) || added
	if !added {
		return out, existing.Stores, nil // as its owner wrote it
	}
	text, err := yaml.Marshal(pins)
	return out, string(text), err
}

// checkIdentity rejects a new identity while backups have recipients: install never changes a
// BackupStore, so the identity would decrypt none of them.
func (i *Installer) checkIdentity(recipients []string) error {
	if i.Backups.Identity == "" || len(recipients) == 0 {
		return nil
	}
	if _, err := os.Stat(i.Backups.Identity); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return exit.Usagef("--backup-key: %s does not exist, and backups are encrypted to %s already: omit the flag, or name the file of that identity",
		i.Backups.Identity, strings.Join(recipients, ", "))
}

// add adds the values that are missing, and reports whether there were any.
func add(to *[]string, values ...string) (added bool) {
	for _, value := range values {
		if !slices.Contains(*to, value) {
			*to, added = append(*to, value), true
		}
	}
	return added
}

// readIdentity sets the recipients of the identity, which it creates if there is none.
func (i *Installer) readIdentity(out *cliv1alpha1.InstallBackups, mayCreate bool) error {
	path, err := i.identityFile()
	if err != nil || path == "" {
		return err
	}
	out.Identity = path
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && mayCreate:
		return createIdentity(out)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot read the identity for backups: %w", err)
	}
	identities, err := seal.Identities(string(text))
	if err != nil {
		return fmt.Errorf("cannot read the identity for backups in %s: %w", path, err)
	}
	out.Recipients = seal.RecipientsOf(identities)
	return nil
}

// identityFile returns the file of the identity: by default beside the release key, or in the
// user's configuration if the key is a publisher's. It is empty if there is no place for it.
func (i *Installer) identityFile() (string, error) {
	switch {
	case i.Backups.Identity != "":
		return i.Backups.Identity, nil
	case len(i.KeyFiles) > 0:
		return filepath.Join(filepath.Dir(i.KeyFiles[0]), etcdbackup.IdentityFile), nil
	case i.Trust.Repository == "":
		return "", nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", exit.Usagef("there is no directory for the identity for backups: %w. Pass --backup-key or --backup-recipient", err)
	}
	return filepath.Join(dir, "refit", etcdbackup.IdentityFile), nil
}

func createIdentity(out *cliv1alpha1.InstallBackups) error {
	text, recipient, err := seal.NewIdentity()
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(out.Identity), 0o700), writeNew(out.Identity, text)); err != nil {
		return fmt.Errorf("cannot create the identity for backups: %w. Choose another file with --backup-key, or pass --backup-recipient", err)
	}
	out.Recipients, out.Created = []string{recipient}, true
	return nil
}

// writeNew creates a file durably and never replaces one: backups are unreadable without their
// identity.
func writeNew(path, text string) error {
	temp := durable.Temp(path)
	err := durable.Create(temp, durable.Attributes{Mode: 0o600, Owner: durable.Caller}, func(file *os.File) error {
		_, err := file.WriteString(text)
		return err
	})
	if err != nil {
		return err
	}
	defer os.Remove(temp) // which is gone unless the next line fails
	return durable.RenameNew(temp, path)
}
