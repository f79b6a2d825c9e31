package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

func newReleaseSignCommand(a *app) *cobra.Command {
	key, name := "", ""
	cmd := &cobra.Command{
		Use:   "sign FILE --key PRIVATE-KEY",
		Short: "Sign a ClusterRelease, ready for kubectl apply",
		Long: `Signs what "release create" wrote, and writes a ClusterRelease object to standard output. Read the
file before you sign it: hosts install what is in it, and nothing else.

A ClusterRelease cannot be changed once it is in a cluster. Another one of the same version needs
another --name.`,
		Example: a.example(
			"release sign v1.36.3.json --key keys/refit-release.key > v1.36.3.yaml",
			"release sign v1.36.3.json --key keys/refit-release.key --name kubernetes-v1.36.3-b | kubectl apply -f -",
		),
		Args: oneFile("what refit release create wrote"),
		RunE: func(_ *cobra.Command, args []string) error {
			if key == "" {
				return usage("say with which key, with --key")
			}
			manifest, err := a.sign(args[0], key, name)
			if err != nil {
				return err
			}
			out, err := document.YAML(manifest)
			if err != nil {
				return err
			}
			return a.write(out)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the private key's `FILE`, from \"release key new\"")
	cmd.Flags().StringVar(&name, "name", "", "the ClusterRelease's `NAME` (default kubernetes-VERSION)")
	return cmd
}

// sign makes a ClusterRelease object of a payload in a file.
func (a *app) sign(file, keyFile, name string) (*cliv1alpha1.ReleaseManifest, error) {
	raw, err := a.open(file)
	if err != nil {
		return nil, fmt.Errorf("the ClusterRelease's content cannot be read: %w", err)
	}
	payload, err := artifact.ParsePayload(raw)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be signed: %w", file, err)
	}
	if name == "" {
		name = "kubernetes-" + payload.Kubernetes
	}
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 || len(name) > validation.DNS1123LabelMaxLength {
		return nil, usage("--name: %q is no name of at most 63 small letters, digits, dots and dashes", name)
	}
	key, err := readPrivateKey(keyFile)
	if err != nil {
		return nil, err
	}
	compact, err := json.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("write the ClusterRelease: %w", err)
	}
	envelope, err := artifact.Sign(compact, key)
	if err != nil {
		return nil, err
	}
	return cliv1alpha1.NewReleaseManifest(name, refitv1alpha1.ClusterReleaseSpec{Kubernetes: payload.Kubernetes, Envelope: envelope}), nil
}

// readPrivateKey reads a private key that nobody else can read.
func readPrivateKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others can read the key %s: take that from them (chmod 600), and consider who may have it", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	key, err := artifact.ParsePrivate(raw)
	if err != nil {
		hint := ""
		if strings.HasSuffix(path, ".pem") {
			hint = ": it is the .key file that signs"
		}
		return nil, fmt.Errorf("%s is no private key: %w%s", path, err, hint)
	}
	if len(key) == 0 {
		return nil, errors.New("the key is empty")
	}
	return key, nil
}
