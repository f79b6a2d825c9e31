package kubeadm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The components that run as static pods.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// Components lists the components that run as static pods, in the order in which they are swapped.
func Components() []string { return []string{Etcd, APIServer, ControllerManager, Scheduler} }

// RenderInput is the input of a rendering besides the binary and its patches.
type RenderInput struct {
	Config *ClusterConfig
	// The version to render; kubeadm supports its own minor version and the one before.
	To               string
	NodeName         string
	AdvertiseAddress string // see LocalEndpoint
	BindPort         int
	CRISocket        string // unix:///run/containerd/containerd.sock
}

// Rendered are static pod manifests by component, with etcd only if it is stacked.
type Rendered map[string][]byte

// Render renders the static pod manifests of a version with the patches of this host. It changes
// nothing outside of Dir and sends no requests.
//
// `kubeadm upgrade` renders with the same functions as `kubeadm init`, from the same configuration,
// but its dry run does not write the files. The flag --initial-cluster of etcd then lists only this
// member, also on nodes that joined: a member with data ignores it.
func (k Kubeadm) Render(ctx context.Context, in RenderInput) (Rendered, error) {
	if in.Config.RootlessControlPlane {
		return nil, node.ManualIntervention("RootlessControlPlane", nil, "Disable it and let kubeadm write the manifests again: "+editConfig+thenRetry,
			"the feature gate RootlessControlPlane of kubeadm is enabled: a dry run renders without its settings")
	}
	dir, err := k.scratch("render")
	if err != nil {
		return nil, err
	}
	pki, placeholder := in.Config.CertificatesDir, ""
	if external(filepath.Join(pki, "ca")) {
		if placeholder, err = placeholderPKI(pki, filepath.Join(dir, "pki")); err != nil {
			return nil, err
		}
	}
	config, err := k.writeInitConfig(filepath.Join(dir, "init.yaml"), in, placeholder)
	if err != nil {
		return nil, err
	}
	runs, components := [][]string{{"control-plane", "all"}}, Components()[1:]
	if !in.Config.ExternalEtcd {
		runs, components = append(runs, []string{"etcd", "local"}), Components()
	}
	for _, names := range runs {
		args := append([]string{"init", "phase"}, names...)
		out, err := k.run(ctx, []string{"KUBEADM_INIT_DRYRUN_DIR=" + dir}, append(args, "--config", config, "--dry-run")...)
		if err != nil {
			return nil, k.failed(ctx, "init phase "+names[0]+" (rendering only)", out, err)
		}
	}
	rendered := Rendered{}
	for _, component := range components {
		text, err := os.ReadFile(filepath.Join(dir, component+".yaml"))
		if err != nil {
			return nil, node.ManualIntervention("NotRendered", err, reportFault, "kubeadm did not render %s", component)
		}
		if placeholder != "" {
			text = withExternalCA(text, placeholder, pki)
		}
		if err := checkRendered(component, text); err != nil {
			return nil, err
		}
		rendered[component] = text
	}
	return rendered, nil
}

// checkRendered checks a manifest, which a patch can make invalid.
func checkRendered(component string, text []byte) error {
	manifest, err := Parse(text)
	if err == nil && manifest.Component != component {
		err = fmt.Errorf("it is a manifest of %q", manifest.Component)
	}
	if err == nil {
		err = uniqueMounts(manifest.Mounts)
	}
	if err != nil {
		return node.ManualIntervention("NotRendered", err, "Check the kubeadm patches on this host"+thenRetry,
			"kubeadm rendered an invalid manifest of %s", component)
	}
	return nil
}

// uniqueMounts rejects mounts of which one hides another: the kubelet rejects such a pod.
func uniqueMounts(mounts []Mount) error {
	seen := map[string]bool{}
	for _, mount := range mounts {
		if seen[mount.Path] {
			return fmt.Errorf("it has two mounts at %s", mount.Path)
		}
		seen[mount.Path] = true
	}
	return nil
}

// WriteConfig writes the configuration for RenewCertificates and returns its path.
func (k Kubeadm) WriteConfig(in RenderInput) (string, error) {
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return "", err
	}
	return k.writeInitConfig(filepath.Join(k.Dir, "kubeadm.yaml"), in, "")
}

func (k Kubeadm) writeInitConfig(path string, in RenderInput, pki string) (string, error) {
	cluster := in.Config.documentFor(in.To)
	if pki != "" {
		cluster["certificatesDir"] = pki
	}
	registration := map[string]any{"name": in.NodeName}
	if in.CRISocket != "" {
		registration["criSocket"] = in.CRISocket
	}
	host := map[string]any{
		"apiVersion":       in.Config.APIVersion,
		"kind":             "InitConfiguration",
		"localAPIEndpoint": map[string]any{"advertiseAddress": in.AdvertiseAddress, "bindPort": in.BindPort},
		"nodeRegistration": registration,
	}
	if k.Patches != "" {
		host["patches"] = map[string]any{"directory": k.Patches}
	}
	first, err := yaml.Marshal(cluster)
	if err != nil {
		return "", err
	}
	second, err := yaml.Marshal(host)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, bytes.Join([][]byte{first, second}, []byte("---\n")), 0o600)
}

// external reports whether this host has the certificate of a CA, but not its key.
func external(ca string) bool {
	_, err := os.Stat(ca + ".crt")
	_, keyErr := os.Stat(ca + ".key")
	return err == nil && os.IsNotExist(keyErr)
}

// placeholderPKI creates a directory whose CA seems to have its key. With an external CA, `kubeadm
// init` requires files that only the first node of a cluster has (super-admin.conf), unlike
// `kubeadm upgrade`, and renders nothing on other nodes. The key is empty: rendering does not read
// it.
func placeholderPKI(pki, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	certificate, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), certificate, 0o600); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "ca.key"), nil, 0o600)
}

// withExternalCA sets the real directory and removes the signing key of the controller manager, as
// kubeadm does with an external CA.
func withExternalCA(text []byte, placeholder, pki string) []byte {
	for flag, file := range map[string]string{"--cluster-signing-cert-file=": "/ca.crt", "--cluster-signing-key-file=": "/ca.key"} {
		text = bytes.ReplaceAll(text, []byte(flag+placeholder+file), []byte(flag))
	}
	return bytes.ReplaceAll(text, []byte(placeholder), []byte(pki))
}
