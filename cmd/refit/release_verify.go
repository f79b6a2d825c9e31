package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// verification is what `refit release verify` is given.
type verification struct {
	format
	keys, from []string
}

func newReleaseVerifyCommand(a *app) *cobra.Command {
	v := &verification{}
	cmd := &cobra.Command{
		Use:   "verify FILE --key PUBLIC-KEY",
		Short: "Verify a ClusterRelease's signature, and its files",
		Long: `Verifies a ClusterRelease as a host does: that a key which you trust signed it, and that
everything in it is as it has to be. With --from it also reads every file of the ClusterRelease
from there and compares it with what was signed: a directory, a web server (https://...) or an OCI
layout (oci:/path), as hosts are given them. A file that is nowhere in there, or another one, ends
it with exit code 1.`,
		Example: a.example(
			"release verify v1.36.3.yaml --key keys/refit-release.pem",
			"release verify v1.36.3.yaml --key /etc/refit/keys --from /srv/refit",
		),
		Args: oneFile("a signed ClusterRelease"),
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), a, args[0]) },
	}
	cmd.Flags().StringArrayVar(&v.keys, "key", nil, "a public key's `FILE`, or a directory of them as hosts have one; can be given several times")
	cmd.Flags().StringArrayVar(&v.from, "from", nil, "a `SOURCE` to compare the files in; can be given several times")
	v.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

func (v *verification) run(ctx context.Context, a *app, name string) error {
	if err := v.check(); err != nil {
		return err
	}
	if len(v.keys) == 0 {
		return usage("say which key you trust, with --key")
	}
	keys, err := publicKeys(v.keys)
	if err != nil {
		return err
	}
	sources, err := sourcesOf(v.from)
	if err != nil {
		return err
	}
	file, err := a.readRelease(name)
	if err != nil {
		return err
	}
	content, err := file.verify(keys)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	document := release.Content(file.name, cliv1alpha1.TrustVerified, content)
	if len(sources) > 0 {
		if document.Compared, err = compare(ctx, content, sources); err != nil {
			return err
		}
	}
	if err := a.answerRelease(&v.format, &document); err != nil {
		return err
	}
	if document.Compared != nil && len(document.Compared.Wrong) > 0 {
		return fmt.Errorf("%d of %d files are not there as they were signed", len(document.Compared.Wrong), document.Compared.Files)
	}
	return nil
}

// compare reads every file of a ClusterRelease from its sources, each once.
func compare(ctx context.Context, release artifact.Release, sources []artifact.Source) (*cliv1alpha1.Compared, error) {
	out := &cliv1alpha1.Compared{}
	seen := map[string]bool{}
	for _, b := range blobsOf(release.Payload) {
		if seen[b.Digest] {
			continue
		}
		seen[b.Digest] = true
		out.Files++
		_, err := artifact.Prove(ctx, b, sources)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out.Wrong = append(out.Wrong, cliv1alpha1.WrongFile{Path: b.Path, Digest: b.Digest, Why: err.Error()})
		}
	}
	return out, nil
}

func blobsOf(p refitv1alpha1.ReleasePayload) []refitv1alpha1.Blob {
	var out []refitv1alpha1.Blob
	for _, file := range p.Files {
		out = append(out, file.Blob)
	}
	for _, image := range p.Images {
		if image.Archive != nil {
			out = append(out, *image.Archive)
		}
	}
	return out
}

func publicKeys(paths []string) ([]artifact.PublicKey, error) {
	var out []artifact.PublicKey
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			keys, err := artifact.LoadKeys(path)
			if err != nil {
				return nil, err
			}
			out = append(out, keys...)
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("the key cannot be read: %w", err)
		}
		key, err := artifact.ParsePublic(raw)
		if err != nil {
			return nil, fmt.Errorf("%s is no public key: %w", path, err)
		}
		out = append(out, key)
	}
	return out, nil
}

func sourcesOf(texts []string) ([]artifact.Source, error) {
	var out []artifact.Source
	for _, text := range texts {
		if !strings.Contains(text, ":") {
			full, err := filepath.Abs(text)
			if err != nil {
				return nil, fmt.Errorf("find %s: %w", text, err)
			}
			text = full
		}
		source, err := artifact.ParseSource(text)
		if err != nil {
			return nil, usage("--from: %w", err)
		}
		out = append(out, source)
	}
	return out, nil
}
