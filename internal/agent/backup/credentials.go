package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// maxCredentials bounds the size of a file with credentials.
const maxCredentials = 64 << 10

var credentialsName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// readCredentials reads the credentials of a name from a directory of the host, or returns
// fs.ErrNotExist.
func readCredentials(dir, name string) (store.Credentials, error) {
	if !credentialsName.MatchString(name) {
		return nil, fmt.Errorf("%q is not the name of credentials", name)
	}
	path := filepath.Join(dir, name)
	text, err := readProtected(path, 0o077)
	if err != nil {
		return nil, err
	}
	var out store.Credentials
	if err := yaml.UnmarshalStrict(text, &out); err != nil {
		// The error may repeat the content.
		return nil, node.ManualIntervention("CredentialsInvalid", nil, "Write "+path+" as YAML: a text for each key", "%s is not valid", path)
	}
	return out, nil
}

// readProtected reads a file of root that others cannot change, and for which none of the forbidden
// permissions are set.
func readProtected(path string, forbidden fs.FileMode) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	owned := ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
	if !owned || !info.Mode().IsRegular() || info.Mode().Perm()&forbidden != 0 || info.Size() > maxCredentials {
		return nil, node.ManualIntervention("FileUnsafe", nil, fmt.Sprintf("Run `chown root:root %s; chmod %04o %s`", path, 0o777&^forbidden&0o644, path),
			"%s is not a small regular file of root with safe permissions (mode %s)", path, info.Mode())
	}
	return os.ReadFile(path)
}

// missing explains that credentials are neither on the host nor in the cluster.
func missing(dir, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return node.ManualIntervention("CredentialsMissing", err,
		fmt.Sprintf("Write %s on every control plane host, or create Secret %s in the namespace %s",
			filepath.Join(dir, name), name, refitv1alpha1.BackupNamespace),
		"there are no credentials %s", name)
}
