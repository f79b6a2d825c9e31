package create

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestNewestPatchReleaseOfUpstream(t *testing.T) {
	p := newPackages(t, newUpstream(t))
	const deb, rpm, binary = refitv1alpha1.PackageDeb, refitv1alpha1.PackageRpm, refitv1alpha1.PackageBinary
	for situation, c := range map[string]struct {
		minor, stable string
		kinds         []refitv1alpha1.PackageKind
		want, wrong   string
	}{
		"deb packages":                             {minor: "1.36", kinds: []refitv1alpha1.PackageKind{deb}, want: "v1.36.3"},
		"rpm packages":                             {minor: "1.36", kinds: []refitv1alpha1.PackageKind{rpm}, want: "v1.36.3"},
		"binaries":                                 {minor: "1.36", stable: "v1.36.4\n", kinds: []refitv1alpha1.PackageKind{binary}, want: "v1.36.4"},
		"no kind means binaries":                   {minor: "1.36", stable: "v1.36.4\n", want: "v1.36.4"},
		"binaries that are newer than packages":    {minor: "1.36", stable: "v1.36.4", kinds: []refitv1alpha1.PackageKind{binary, deb}, want: "v1.36.3"},
		"packages that are newer than binaries":    {minor: "1.36", stable: "v1.36.2", kinds: []refitv1alpha1.PackageKind{deb, binary}, want: "v1.36.2"},
		"nothing that all have":                    {minor: "1.36", stable: "v1.36.1", kinds: []refitv1alpha1.PackageKind{deb, binary}, wrong: "no patch release of v1.36"},
		"a minor version that was not released":    {minor: "1.40", kinds: []refitv1alpha1.PackageKind{deb}, wrong: "status 404"},
		"a page of another minor version":          {minor: "1.36", stable: "v1.35.9", wrong: "names no release of v1.36"},
		"a pre-release":                            {minor: "1.36", stable: "v1.36.5-rc.1", wrong: "names no release of v1.36"},
		"a web page":                               {minor: "1.36", stable: "<html>", wrong: "names no release of v1.36"},
		"a file that is missing: only old mirrors": {minor: "1.36", kinds: []refitv1alpha1.PackageKind{binary}, wrong: "status 404"},
	} {
		t.Run(situation, func(t *testing.T) {
			delete(p.u.files, "/release/stable-1.36.txt")
			if c.stable != "" {
				p.u.files["/release/stable-1.36.txt"] = []byte(c.stable)
			}
			got, err := p.options(c.kinds...).Online.Newest(t.Context(), c.minor, nil)
			if got != c.want || (c.wrong == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("Newest() = %q, %v", got, err)
			}
		})
	}
}
