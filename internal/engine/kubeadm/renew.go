package kubeadm

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// kubernetesDir is the directory of the kubeconfigs, which is fixed in kubeadm.
const kubernetesDir = "/etc/kubernetes"

// RenewCertificates renews certificates by name with the CAs on this host, without the API. Like
// kubeadm, it skips missing ones and those with an external CA.
//
// kubeadm writes a key, then its certificate, neither of them atomically. So the present files are
// first copied to Dir: a certificate that differs from its copy and matches its key was renewed,
// all others are renewed again, from the copy if they are damaged.
func (k Kubeadm) RenewCertificates(ctx context.Context, in RenderInput, names []string) error {
	config, err := k.WriteConfig(in)
	if err != nil {
		return err
	}
	return k.renew(ctx, config, in.Config.CertificatesDir, kubernetesDir, names)
}

func (k Kubeadm) renew(ctx context.Context, config, pki, kubernetes string, names []string) error {
	if err := durable.MkdirAll(k.kept(""), 0o700); err != nil {
		return err
	}
	wanted, err := renewable(pki, names)
	if err != nil {
		return err
	}
	return k.renewAll(ctx, config, pki, kubernetes, wanted)
}

// renewable returns the certificates of some names whose CA is on this host.
func renewable(pki string, names []string) ([]certificate, error) {
	var wanted []certificate
	for _, name := range names {
		at := slices.IndexFunc(certificates, func(c certificate) bool { return c.name == name })
		if at < 0 {
			return nil, node.ManualIntervention("UnknownCertificate", nil, reportFault, "unknown certificate %q", name)
		}
		if c := certificates[at]; !external(filepath.Join(pki, c.ca)) {
			wanted = append(wanted, c)
		}
	}
	return wanted, nil
}

func (k Kubeadm) renewAll(ctx context.Context, config, pki, kubernetes string, wanted []certificate) error {
	// The generation of keys takes most of the time, and the files are independent.
	var group errgroup.Group
	group.SetLimit(max(1, min(4, runtime.NumCPU())))
	for _, c := range wanted {
		group.Go(func() error { return k.renewOne(ctx, config, c, c.path(pki, kubernetes), k.kept(c.name)) })
	}
	return group.Wait()
}

// kept returns the path of the copy of a certificate.
func (k Kubeadm) kept(name string) string { return filepath.Join(k.Dir, "certificates", name) }

func (k Kubeadm) renewOne(ctx context.Context, config string, c certificate, path, kept string) error {
	renewed, err := prepare(c, path, kept)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoCertificate):
		return nil
	case err != nil:
		return node.HostBroken("CertificateBroken", err, "Restore the file from a backup of this host"+thenRetry, "cannot read certificate %s", c.name)
	case renewed:
		return syncCertificate(path) // a former run may have been interrupted before this
	}
	out, err := k.run(ctx, nil, "certs", "renew", c.name, "--config", config)
	if err != nil {
		return k.failed(ctx, "certs renew "+c.name, out, err)
	}
	if err := c.check(path); err != nil {
		return node.HostBroken("CertificateBroken", err, "Check the disk of this host"+thenRetry,
			"cannot read certificate %s after its renewal", c.name)
	}
	return syncCertificate(path)
}

// prepare copies a certificate once, and reports whether it was renewed since.
func prepare(c certificate, path, kept string) (bool, error) {
	was, err := os.ReadFile(kept)
	if errors.Is(err, fs.ErrNotExist) {
		if err := c.check(path); err != nil && !missingKey(err, path) {
			return false, err
		}
		if was, err = os.ReadFile(path); err != nil {
			return false, err
		}
		return false, durable.WriteFile(kept, was, 0o600)
	}
	if err != nil {
		return false, err
	}
	is, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := c.check(path); err == nil {
		return !bytes.Equal(is, was), nil
	}
	// The file is damaged. kubeadm needs the former certificate or kubeconfig, and creates a new
	// key.
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(path, ".conf") {
		mode = 0o600
	}
	return false, durable.ReplaceFile(path, was, mode)
}

// missingKey reports whether only the key is missing: such a certificate is renewed.
func missingKey(err error, path string) bool {
	_, statErr := os.Stat(path)
	return statErr == nil && errors.Is(err, fs.ErrNotExist)
}

// syncCertificate syncs the files that kubeadm wrote.
func syncCertificate(path string) error {
	files := []string{path}
	if key, found := strings.CutSuffix(path, ".crt"); found {
		files = append(files, key+".key")
	}
	for _, file := range files {
		if err := durable.SyncFile(file); err != nil {
			return err
		}
	}
	return durable.SyncDir(filepath.Dir(path))
}
