package release

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// target is a cluster with pinned keys and ClusterReleases.
type target struct {
	pinned   []string // files of public keys
	releases map[string]*refitv1alpha1.ClusterRelease
	created  int
	refused  error // the user may not create them
	objects  client.Client
}

func (c *target) Objects() client.Client { return c.objects }

func (c *target) MayCreateRelease(context.Context) error { return c.refused }

func (c *target) PinnedKeys(ctx context.Context) (map[string]string, error) {
	if ctx.Err() != nil { // as a client does
		return nil, ctx.Err()
	}
	out := map[string]string{}
	for _, file := range c.pinned {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		out[file] = string(text)
	}
	return out, nil
}

func (c *target) Release(_ context.Context, name string) (*refitv1alpha1.ClusterRelease, error) {
	if r := c.releases[name]; r != nil {
		return r, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: "refit.dev", Resource: "clusterreleases"}, name)
}

func (c *target) CreateRelease(_ context.Context, r *refitv1alpha1.ClusterRelease) error {
	if c.releases == nil {
		c.releases = map[string]*refitv1alpha1.ClusterRelease{}
	}
	c.releases[r.Name] = r
	c.created++
	return nil
}

func addition(t *testing.T, key string) *Addition {
	t.Helper()
	content := payload(t, nil)
	return &Addition{
		Signer: Signer{KeyFile: key}, Log: io.Discard, Content: func(context.Context, io.Writer) ([]byte, error) { return content, nil },
	}
}

func TestAddedReleaseIsSignedByThePinnedKey(t *testing.T) {
	private, public := keyPair(t)
	c := &target{pinned: []string{public}}
	a := addition(t, private)
	asked := ""
	a.Confirm = func(_ context.Context, question string) error { asked = question; return nil }
	added, err := a.Add(t.Context(), "prod", c, c)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ReadPublicKeys([]string{public})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := artifact.Verify(c.releases["kubernetes-v1.36.3"].Spec.Envelope, keys); err != nil {
		t.Error(err)
	}
	if added.Existed || added.KeyID != keys[0].ID || !strings.Contains(asked, keys[0].ID) || !strings.Contains(asked, "prod") {
		t.Errorf("added %+v, asked %q", added, asked)
	}
	again, err := a.Add(t.Context(), "prod", c, c)
	if err != nil || !again.Existed || c.created != 1 {
		t.Errorf("the second time: %+v, %v; created %d", again, err, c.created)
	}
}

// The check and the prompt use the public key, which need not belong to the private one beside it.
func TestReleaseSignedByAnotherKeyThanTheShownOneIsNotAdded(t *testing.T) {
	private, public := keyPair(t)
	other, _ := keyPair(t)
	text, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	write(t, private, string(text))
	c := &target{pinned: []string{public}}
	if _, err := addition(t, private).Add(t.Context(), "prod", c, c); err == nil || !strings.Contains(err.Error(), "is not its own") || c.created > 0 {
		t.Errorf("Add() = %v; created %d", err, c.created)
	}
}

func TestKeyThatDoesNotExist(t *testing.T) {
	c := &target{}
	path := filepath.Join(t.TempDir(), "missing.key")
	if _, err := addition(t, path).Add(t.Context(), "prod", c, c); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), ".pem") {
		t.Errorf("Add() = %v, want an error that names the private key", err)
	}
}

// A key may have been replaced since.
func TestExistingReleaseThatHostsRefuseIsNoSuccess(t *testing.T) {
	former, formerPublic := keyPair(t)
	c := &target{pinned: []string{formerPublic}}
	if _, err := addition(t, former).Add(t.Context(), "prod", c, c); err != nil {
		t.Fatal(err)
	}
	private, public := keyPair(t)
	c.pinned = []string{public}
	if _, err := addition(t, private).Add(t.Context(), "prod", c, c); err == nil || !strings.Contains(err.Error(), "a signature that the hosts refuse") {
		t.Errorf("Add() = %v", err)
	}
}

func TestReleaseThatIsNotAdded(t *testing.T) {
	private, public := keyPair(t)
	_, other := keyPair(t)
	declined := errors.New("not confirmed")
	for situation, c := range map[string]struct {
		in      target
		decline bool
		want    string
	}{
		"Refit is not installed":     {target{}, false, "Run `refit install` first"},
		"another key is pinned":      {target{pinned: []string{other}}, false, "the hosts would refuse"},
		"the user declines":          {target{pinned: []string{public}}, true, "not confirmed"},
		"the name has other content": {target{pinned: []string{public}, releases: map[string]*refitv1alpha1.ClusterRelease{"kubernetes-v1.36.3": {}}}, false, "immutable"},
	} {
		t.Run(situation, func(t *testing.T) {
			a := addition(t, private)
			if c.decline {
				a.Confirm = func(context.Context, string) error { return declined }
			}
			if _, err := a.Add(t.Context(), "prod", &c.in, &c.in); err == nil || !strings.Contains(err.Error(), c.want) || c.in.created > 0 {
				t.Errorf("Add() = %v, want %q; created %d", err, c.want, c.in.created)
			}
		})
	}
}

func TestUserSeesTheContentBeforeItIsSigned(t *testing.T) {
	private, public := keyPair(t)
	c := &target{pinned: []string{public}}
	a := addition(t, private)
	var log strings.Builder
	a.Log = &log
	seen := ""
	a.Confirm = func(context.Context, string) error { seen = log.String(); return nil }
	if _, err := a.Add(t.Context(), "prod", c, c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ClusterRelease kubernetes-v1.36.3 of Kubernetes v1.36.3", "linux/amd64", "kubeadm"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q does not contain %q", seen, want)
		}
	}
}

// silent is a cluster whose API server stops answering after some requests.
type silent struct {
	target
	answers int
}

func (s *silent) wait(ctx context.Context) error {
	if s.answers--; s.answers < 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (s *silent) PinnedKeys(ctx context.Context) (map[string]string, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.target.PinnedKeys(ctx)
}

func (s *silent) Release(ctx context.Context, name string) (*refitv1alpha1.ClusterRelease, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.target.Release(ctx, name)
}

func (s *silent) MayCreateRelease(ctx context.Context) error { return s.wait(ctx) }

func (s *silent) CreateRelease(ctx context.Context, _ *refitv1alpha1.ClusterRelease) error {
	return s.wait(ctx)
}

func TestWithoutPermissionNothingIsReadOrSigned(t *testing.T) {
	private, public := keyPair(t)
	c := &target{pinned: []string{public}, refused: errors.New("you may not")}
	a := addition(t, private)
	a.Content = func(context.Context, io.Writer) ([]byte, error) { t.Error("the content was read"); return nil, nil }
	a.Confirm = func(context.Context, string) error { t.Error("the user was prompted"); return nil }
	if _, err := a.Add(t.Context(), "prod", c, c); !errors.Is(err, c.refused) {
		t.Errorf("got %v", err)
	}
}

func TestAddEndsIfTheAPIServerDoesNotAnswer(t *testing.T) {
	private, public := keyPair(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for answers := range 4 {
		a := addition(t, private)
		a.Timeout = 20 * time.Millisecond
		c := &silent{target{pinned: []string{public}}, answers}
		_, err := a.Add(ctx, "prod", c, c)
		if _, late := errors.AsType[exit.TimeoutError](err); !late || ctx.Err() != nil || !strings.Contains(err.Error(), "did not respond within 20ms") {
			t.Errorf("after %d answers: Add() = %v", answers, err)
		}
	}
}

func TestOfferIsPossibleWithAPinnedKeyOnly(t *testing.T) {
	private, public := keyPair(t)
	_, other := keyPair(t)
	for situation, c := range map[string]struct {
		key       string
		installed Installation
		possible  bool
		fails     bool
	}{
		"the key is pinned":               {private, &target{pinned: []string{public}}, true, false},
		"another key is pinned":           {private, &target{pinned: []string{other}}, false, false},
		"Refit is not installed":          {private, &target{}, false, false},
		"the user has no key":             {filepath.Join(t.TempDir(), KeyName), &target{pinned: []string{public}}, false, false},
		"the API server does not respond": {private, &silent{}, false, true},
	} {
		offer := &Offer{Addition: *addition(t, c.key)}
		offer.Timeout = time.Second / 2
		if possible, err := offer.possible(t.Context(), c.installed); possible != c.possible || (err != nil) != c.fails {
			t.Errorf("%s: possible() = %t, %v", situation, possible, err)
		}
	}
}

// Agents refuse a ClusterRelease whose spec has another version than its signed content.
func TestReleaseThatAgentsRefuseDoesNotExist(t *testing.T) {
	private, public := keyPair(t)
	c := &target{pinned: []string{public}}
	if _, err := addition(t, private).Add(t.Context(), "prod", c, c); err != nil {
		t.Fatal(err)
	}
	c.releases["kubernetes-v1.36.3"].Spec.Kubernetes = "v1.36.2"
	if _, err := addition(t, private).Add(t.Context(), "prod", c, c); err == nil || !strings.Contains(err.Error(), "immutable") {
		t.Errorf("Add() = %v", err)
	}
}
