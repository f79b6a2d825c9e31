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
// the signed digest. It extracts what is in archives.
func Compare(ctx context.Context, release artifact.Release, sources []artifact.Source) (*cliv1alpha1.Compared, error) {
	out := &cliv1alpha1.Compared{}
	seen := map[string]bool{}
	compare := func(b refitv1alpha1.Blob, prove func() (string, error)) {
		if seen[b.Digest] || ctx.Err() != nil {
			return
		}
		seen[b.Digest] = true
		out.Files++
		if _, err := prove(); err != nil {
			out.Wrong = append(out.Wrong, cliv1alpha1.WrongFile{Path: b.Path, Digest: b.Digest, Why: err.Error()})
		}
	}
	for _, file := range release.Payload.Files {
		if a := file.Archive; a != nil {
			compare(a.Blob, func() (string, error) {
				return artifact.ProveMembers(ctx, membersOf(release.Payload, a.Digest), sources)
			})
			continue
		}
		compare(file.Blob, func() (string, error) { return artifact.Prove(ctx, file.Blob, sources) })
	}
	for _, image := range release.Payload.Images {
		if a := image.Archive; a != nil {
			compare(*a, func() (string, error) { return artifact.Prove(ctx, *a, sources) })
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, nil
}

// membersOf returns the files of an archive.
func membersOf(p refitv1alpha1.ReleasePayload, archive string) (out []refitv1alpha1.ReleaseFile) {
	for _, file := range p.Files {
		if file.Archive != nil && file.Archive.Digest == archive {
			out = append(out, file)
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
