package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// Compare reads every file of a ClusterRelease from its sources, each once, and compares it with
// the signed digest.
func Compare(ctx context.Context, release artifact.Release, sources []artifact.Source) (*cliv1alpha1.Compared, error) {
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

// ParseSources parses sources of files. A relative path is a source as well.
func ParseSources(texts []string) ([]artifact.Source, error) {
	var out []artifact.Source
	for _, text := range texts {
		if !strings.Contains(text, ":") {
			full, err := filepath.Abs(text)
			if err != nil {
				return nil, fmt.Errorf("cannot resolve the path %s: %w", text, err)
			}
			if _, err := os.Stat(full); errors.Is(err, fs.ErrNotExist) {
				return nil, exit.Usagef("--from: %s does not exist", full)
			}
			text = full
		}
		source, err := artifact.ParseSource(text)
		if err != nil {
			return nil, exit.Usagef("--from: %w", err)
		}
		out = append(out, source)
	}
	return out, nil
}
