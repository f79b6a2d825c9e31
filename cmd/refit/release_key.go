package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// keyName is what a key's file is called in a directory.
const keyName = "refit-release.key"

func newReleaseKeyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "Make the keys that ClusterReleases are signed with",
		Long:    `Makes the keys that ClusterReleases are signed with.`,
		Example: a.example("release key new --out keys"),
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newReleaseKeyNewCommand(a))
	return cmd
}

func newReleaseKeyNewCommand(a *app) *cobra.Command {
	f := &format{}
	out := ""
	cmd := &cobra.Command{
		Use:   "new --out DIRECTORY|FILE",
		Short: "Make a key pair",
		Long: `Makes a new ed25519 key pair: a private key that signs Releases, and beside it a public key (.pem)
that hosts verify them with. A file that is there already is never overwritten.

The private key has no passphrase. Whoever has it decides what your hosts install: keep it off the
clusters, best in a safe place that only your release pipeline reads.`,
		Example: a.example("release key new --out keys", "release key new --out ~/.config/refit/production.key"),
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if out == "" {
				return usage("say where the key goes, with --out")
			}
			key, err := newKeyPair(out)
			if err != nil {
				return err
			}
			if f.output != formatText {
				return f.print(a, key)
			}
			return a.write([]byte(text.ReleaseKey(&key, a.name)))
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the directory that gets "+keyName+" and its .pem, or the private key's `FILE`")
	f.addFlags(cmd)
	return cmd
}

// newKeyPair writes a new key pair. The public key comes last: without it nobody would trust the private one.
func newKeyPair(out string) (cliv1alpha1.ReleaseKey, error) {
	if info, err := os.Stat(out); (err == nil && info.IsDir()) || filepath.Ext(out) == "" {
		if err := os.MkdirAll(out, 0o700); err != nil {
			return cliv1alpha1.ReleaseKey{}, fmt.Errorf("make the directory: %w", err)
		}
		out = filepath.Join(out, keyName)
	}
	if filepath.Ext(out) == ".pem" {
		return cliv1alpha1.ReleaseKey{}, usage("--out: .pem is for the public key, which is written beside the private one: name that .key")
	}
	key := artifact.NewKey()
	public := artifact.PublicOf(key)
	result := cliv1alpha1.NewReleaseKey(out, strings.TrimSuffix(out, filepath.Ext(out))+".pem", public.ID)
	privateText, err := artifact.MarshalPrivate(key)
	if err != nil {
		return result, err
	}
	publicText, err := artifact.MarshalPublic(public.Key)
	if err != nil {
		return result, err
	}
	if _, err := os.Lstat(result.PublicKey); !errors.Is(err, fs.ErrNotExist) {
		return result, fmt.Errorf("%s is there already: name another place", result.PublicKey)
	}
	if err := writeNew(result.PrivateKey, privateText, 0o600); err != nil {
		return result, err
	}
	return result, writeNew(result.PublicKey, publicText, 0o644)
}

// writeNew writes a file that is not there yet.
func writeNew(path string, content []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: name another place", path)
	}
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	return nil
}
