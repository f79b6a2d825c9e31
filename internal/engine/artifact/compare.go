package artifact

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Prove reads a file from the sources and returns the first place whose content matches the
// ClusterRelease. It stores nothing.
func Prove(ctx context.Context, b refitv1alpha1.Blob, sources []Source) (string, error) {
	return prove(ctx, b, sources, func(place) error { return nil })
}

// ProveMembers is Prove for an archive: it also extracts files from it, and compares them.
func ProveMembers(ctx context.Context, files []refitv1alpha1.ReleaseFile, sources []Source) (string, error) {
	archive := files[0].Archive.Blob
	if err := validateMembers(archive, files); err != nil {
		return "", err
	}
	return prove(ctx, archive, sources, func(at place) error {
		body, _, err := at.open(ctx, archive, 0)
		if err != nil {
			return err
		}
		defer body.Close()
		return extractMembers(ctx, io.LimitReader(body, archive.Size), files, func(_ refitv1alpha1.ReleaseFile, content io.Reader) error {
			_, err := io.Copy(io.Discard, content)
			return err
		})
	})
}

func prove(ctx context.Context, b refitv1alpha1.Blob, sources []Source, also func(place) error) (string, error) {
	if err := validateBlob(b, map[string]int64{}); err != nil {
		return "", err
	}
	var errs []string
	for _, source := range sources {
		for _, at := range source.places(b) {
			err := compareAt(ctx, b, at)
			if err == nil {
				err = also(at)
			}
			if err == nil {
				return at.String(), nil
			}
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			if !errors.Is(err, errNotFound) {
				errs = append(errs, fmt.Sprintf("%s: %v", at, err))
			}
		}
	}
	if len(errs) == 0 {
		return "", errNotFound
	}
	return "", errors.New(strings.Join(errs, "; "))
}

func compareAt(ctx context.Context, b refitv1alpha1.Blob, at place) error {
	body, _, err := at.open(ctx, b, 0)
	if err != nil {
		return err
	}
	defer body.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(&cancelable{ctx, body}, b.Size+1))
	switch {
	case err != nil:
		return err
	case n != b.Size || sumOf(sum) != b.Digest:
		return errWrongContent
	}
	return nil
}
