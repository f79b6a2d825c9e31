package installation

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/oci"
	"github.com/refit-dev/refit/internal/engine/artifact/oci/ocitest"
	"github.com/refit-dev/refit/internal/engine/install"
)

// publish returns a repository with keys. Its registry answers requests for the first fingerprint
// with the second key if swapped is set.
func publish(t *testing.T, swapped *bool, keys ...artifact.PublicKey) (repository string) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	repository = "oci://" + ocitest.New(t, func(registry http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if *swapped {
				r.URL.Path = strings.Replace(r.URL.Path, oci.KeyTag(keys[0].ID), oci.KeyTag(keys[1].ID), 1)
			}
			registry.ServeHTTP(w, r)
		})
	}) + "/refit/releases"
	at, err := oci.Parse(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := (&oci.Registry{}).PushKey(t.Context(), at, key); err != nil {
			t.Fatal(err)
		}
	}
	return repository
}

func TestOnlyTheKeyWithTheFingerprintIsPinned(t *testing.T) {
	one, two, missing := artifact.PublicOf(artifact.NewKey()), artifact.PublicOf(artifact.NewKey()), artifact.PublicOf(artifact.NewKey())
	swapped := false
	repository := publish(t, &swapped, one, two)
	pinned := func(fingerprints ...string) ([]string, error) {
		c := Choice{Trust: Trust{Repository: repository, Fingerprints: fingerprints}, Version: "v0.1.0"}
		if err := c.Read(t.Context()); err != nil {
			return nil, err
		}
		o, err := c.options(install.Existing{Keys: map[string]string{"mine.pem": ""}})
		var ids []string
		for _, name := range slices.Sorted(maps.Keys(o.Keys)) {
			key, err := artifact.ParsePublic([]byte(o.Keys[name]))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, key.ID)
		}
		return ids, err
	}
	if got, err := pinned(one.ID); err != nil || !slices.Equal(got, []string{one.ID}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := pinned(one.ID, two.ID); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := pinned(one.ID, missing.ID); err == nil || !strings.Contains(err.Error(), "cannot trust "+repository) {
		t.Errorf("a key that is missing: %v", err)
	}
	swapped = true
	if got, err := pinned(one.ID); err == nil || !strings.Contains(err.Error(), "is not the one that you trust: its fingerprint is "+two.ID) {
		t.Errorf("another key in its place: %v, %v", got, err)
	}
}

func TestTrustWithoutAFingerprintIsRefused(t *testing.T) {
	fingerprint := artifact.PublicOf(artifact.NewKey()).ID
	for situation, c := range map[string]struct {
		trust Trust
		want  string
	}{
		"no fingerprint":     {Trust{Repository: "oci://registry.example/r"}, "--trust requires --fingerprint"},
		"no repository":      {Trust{Fingerprints: []string{fingerprint}}, "--fingerprint requires --trust"},
		"a tag":              {Trust{Repository: "oci://registry.example/r:v1", Fingerprints: []string{fingerprint}}, "name the repository only"},
		"no scheme":          {Trust{Repository: "registry.example/r", Fingerprints: []string{fingerprint}}, "--trust: "},
		"a cut fingerprint":  {Trust{Repository: "oci://registry.example/r", Fingerprints: []string{fingerprint[:20]}}, "is not a fingerprint"},
		"a hex fingerprint":  {Trust{Repository: "oci://registry.example/r", Fingerprints: []string{"SHA256:" + strings.Repeat("ab", 32)}}, "is not a fingerprint"},
		"one without prefix": {Trust{Repository: "oci://registry.example/r", Fingerprints: []string{strings.TrimPrefix(fingerprint, "SHA256:")}}, "is not a fingerprint"},
	} {
		err := (&Choice{Trust: c.trust}).Read(t.Context())
		if _, usage := errors.AsType[exit.UsageError](err); !usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", situation, err, c.want)
		}
	}
}

// There is no file of a key beside which the identity could be.
func TestIdentityWithTheKeyOfAPublisher(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	i := &Installer{Choice: Choice{Trust: Trust{Repository: "oci://registry.example/r"}}}
	backups, _, err := i.prepareBackups(install.Existing{}, true)
	if err != nil || !backups.Created || backups.Identity != filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "refit", "refit-backup.key") {
		t.Fatalf("%+v, %v", backups, err)
	}
	if _, err := os.Stat(backups.Identity); err != nil {
		t.Error(err)
	}
}
