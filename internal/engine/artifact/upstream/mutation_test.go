package upstream

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/refit-dev/refit/internal/engine/artifact"
)

// mutations is the number of mutations of each repository.
const mutations = 500

// TestMutatedRepositories changes one document or package at a time, as a hostile mirror could.
// Each must be refused, or have no effect: the armor of a signature has parts that nothing depends
// on.
func TestMutatedRepositories(t *testing.T) {
	d, r := newDebs(t), newRpms(t)
	total := 0
	for _, c := range []struct {
		server    *server
		documents []string
		read      func(context.Context, []string) ([]Package, error)
	}{
		{d.server, []string{"/deb/Release.key", "/deb/InRelease", "/deb/Packages.gz"}, d.repo.Debs},
		{r.server, []string{"/rpm/repodata/repomd.xml", "/rpm/repodata/repomd.xml.asc", "/rpm/repodata/repomd.xml.key", r.list()}, r.repo.Rpms},
	} {
		want, err := c.read(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		files := c.documents
		for _, p := range want {
			files = append(files, "/"+p.Blob.Path)
		}
		total += mutate(t, c.server, files, func() error { return proven(t.Context(), want, c.read, c.server.URL) })
	}
	t.Logf("figure upstream_mutations %d mutations", 2*mutations)
	t.Logf("figure upstream_mutations_accepted %d mutations", total)
}

// errOther is the result of a mutation that was accepted.
type errOther struct{}

func (errOther) Error() string { return "other packages are accepted" }

// proven reads a repository and then its packages, as `refit release create` and a host do.
func proven(ctx context.Context, want []Package, read func(context.Context, []string) ([]Package, error), mirror string) error {
	got, err := read(ctx, names)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return errOther{}
	}
	source, err := artifact.ParseSource(mirror)
	if err != nil {
		return err
	}
	for _, p := range got {
		if _, err := artifact.Prove(ctx, p.Blob, []artifact.Source{source}); err != nil {
			return err
		}
	}
	return nil
}

// mutate returns how many mutations of files are accepted.
func mutate(t *testing.T, s *server, files []string, attempt func() error) (accepted int) {
	t.Helper()
	const seed = 20
	random := rand.New(rand.NewPCG(seed, uint64(len(files))))
	inert := 0
	for i := range mutations {
		path := files[i%len(files)]
		before := read(t, filepath.Join(s.dir, path))
		after, how := mutation(random, before)
		s.answers = map[string]http.HandlerFunc{path: content(after)}
		err := attempt()
		_, other := err.(errOther) //nolint:errorlint // it is not wrapped
		switch {
		case other, err == nil && filepath.Ext(path) != ".key" && filepath.Ext(path) != ".asc" && path != "/deb/InRelease":
			accepted++
			t.Errorf("mutation %d of %s was accepted: %s", i, path, how)
		case err == nil:
			inert++
		}
	}
	s.answers = map[string]http.HandlerFunc{}
	t.Logf("%d of %d mutations had no effect: they are in the armor of a key or a signature", inert, mutations)
	return accepted
}

// mutation changes a document, and returns how.
func mutation(random *rand.Rand, before []byte) (after []byte, how string) {
	for {
		at := random.IntN(len(before))
		end := min(len(before), at+1+random.IntN(64))
		after := bytes.Clone(before)
		kind := random.IntN(6)
		switch kind {
		case 0:
			after[at] ^= 1 << random.IntN(8)
		case 1:
			after = append(after[:at:at], before[end:]...)
		case 2:
			after = append(append(after[:end:end], before[at:end]...), before[end:]...)
		case 3:
			after = after[:at]
		case 4:
			clear(after[at:end])
		case 5:
			random.Shuffle(end-at, func(i, j int) { after[at+i], after[at+j] = after[at+j], after[at+i] })
		}
		if !bytes.Equal(after, before) {
			return after, fmt.Sprintf("kind %d at %d-%d", kind, at, end)
		}
	}
}
