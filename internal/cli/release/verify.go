package release

import (
	"context"
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Show returns the document about a ClusterRelease in a file, without verifying the signature.
func (r *File) Show() (cliv1alpha1.ReleaseContent, error) {
	content, signed, err := r.Open()
	trust := cliv1alpha1.TrustUnsigned
	if signed {
		trust = cliv1alpha1.TrustUnverified
	}
	return content.document(r.Name, trust), err
}

// VerifyWith returns the document about a ClusterRelease that one of the keys signed. If there are
// sources, it also compares every file with its signed digest.
func (r *File) VerifyWith(ctx context.Context, keyFiles, from []string) (cliv1alpha1.ReleaseContent, error) {
	keys, err := ReadPublicKeys(keyFiles)
	if err != nil {
		return cliv1alpha1.ReleaseContent{}, err
	}
	sources, err := ParseSources(from)
	if err != nil {
		return cliv1alpha1.ReleaseContent{}, err
	}
	content, err := r.Verify(keys)
	if err != nil {
		return cliv1alpha1.ReleaseContent{}, err
	}
	document := content.document(r.Name, cliv1alpha1.TrustVerified)
	if len(sources) > 0 {
		document.Compared, err = Compare(ctx, content.Release, sources)
	}
	return document, err
}

// AllMatch returns an error if a file that was compared is missing or differs.
func AllMatch(document *cliv1alpha1.ReleaseContent) error {
	if c := document.Compared; c != nil && len(c.Wrong) > 0 {
		return fmt.Errorf("%d of %d files are missing or do not match their signed digest", len(c.Wrong), c.Files)
	}
	return nil
}
