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

// kubernetesDir is where kubeadm keeps its kubeconfigs. It cannot be told another place.
const kubernetesDir = "/etc/kubernetes"

// RenewCertificates renews certificates by name, from the CAs on this host, without the API. Those that are not there or whose CA is kept elsewhere
// are left alone, as kubeadm does.
//
// kubeadm writes a key, then its certificate, neither of them at once. So what is there is kept first, in Dir: what differs from it and has a key
// that fits was renewed, everything else is renewed again, from what was kept where it is torn.
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

// renewable are the certificates of some names whose CA is on this host.
func renewable(pki string, names []string) ([]certificate, error) {
	var wanted []certificate
	for _, name := range names {
		at := slices.IndexFunc(certificates, func(c certificate) bool { return c.name == name })
		if at < 0 {
			return nil, node.ManualIntervention("UnknownCertificate", nil, "report this as a fault of Refit", "there is no certificate %q", name)
		}
		if c := certificates[at]; !external(filepath.Join(pki, c.ca)) {
			wanted = append(wanted, c)
		}
	}
	return wanted, nil
}

func (k Kubeadm) renewAll(ctx context.Context, config, pki, kubernetes string, wanted []certificate) error {
	// Most of the time goes into making keys. The files have nothing to do with each other.
	var group errgroup.Group
	group.SetLimit(max(1, min(4, runtime.NumCPU())))
	for _, c := range wanted {
		group.Go(func() error { return k.renewOne(ctx, config, c, c.path(pki, kubernetes), k.kept(c.name)) })
	}
	return group.Wait()
}

// kept is where a certificate is kept before it is renewed.
func (k Kubeadm) kept(name string) string { return filepath.Join(k.Dir, "certificates", name) }

func (k Kubeadm) renewOne(ctx context.Context, config string, c certificate, path, kept string) error {
	renewed, err := prepare(c, path, kept)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoCertificate):
		return nil
	case err != nil:
		return node.HostBroken("CertificateBroken", err, "put the file back from a backup of this host"+thenRetry, "the certificate %s cannot be read", c.name)
	case renewed:
		return syncCertificate(path) // it may have been cut off before this
	}
	out, err := k.run(ctx, nil, "certs", "renew", c.name, "--config", config)
	if err != nil {
		return k.failed(ctx, "certs renew "+c.name, out, err)
	}
	if err := c.check(path); err != nil {
		return node.HostBroken("CertificateBroken", err, "look at the disk of this host"+thenRetry,
			"the certificate %s cannot be read after it was renewed", c.name)
	}
	return syncCertificate(path)
}

// prepare keeps what is there, once, and says whether it was renewed since.
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
	// Torn. What kubeadm needs of it is the certificate, or the kubeconfig, that was there; it writes the key anew.
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(path, ".conf") {
		mode = 0o600
	}
	return false, durable.WriteFile(path, was, mode)
}

// missingKey: a certificate without its key is renewed all the same.
func missingKey(err error, path string) bool {
	_, there := os.Stat(path)
	return there == nil && errors.Is(err, fs.ErrNotExist)
}

// syncCertificate makes durable what kubeadm wrote.
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
