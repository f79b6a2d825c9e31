package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// testStore tests what every store must do. The store is empty.
func testStore(t *testing.T, s Objects) {
	t.Helper()
	t.Run("missing object", func(t *testing.T) { testMissing(t, s) })
	t.Run("object is read back", func(t *testing.T) { testReadBack(t, s) })
	t.Run("failed source", func(t *testing.T) { testFailedSource(t, s) })
	t.Run("list and delete", func(t *testing.T) { testListAndDelete(t, s) })
}

func testMissing(t *testing.T, s Objects) {
	t.Helper()
	if _, err := s.Get(t.Context(), "a/missing"); !errors.Is(err, backup.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if _, err := s.Stat(t.Context(), "a/missing"); !errors.Is(err, backup.ErrNotFound) {
		t.Errorf("Stat: %v", err)
	}
	if err := s.Delete(t.Context(), "a/missing"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if objects, err := s.List(t.Context(), "a/"); err != nil || len(objects) != 0 {
		t.Errorf("List: %v %v", objects, err)
	}
}

func testReadBack(t *testing.T, s Objects) {
	t.Helper()
	for _, size := range []int{0, 1, 1 << 10, partSize, partSize + 5} {
		want := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(want)
		if err := s.Put(t.Context(), "b/one", struct{ io.Reader }{bytes.NewReader(want)}); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if got, err := content(t, s, "b/one"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d bytes, %v", size, len(got), err)
		}
		if object, err := s.Stat(t.Context(), "b/one"); err != nil || object.Size != int64(size) || object.Modified.IsZero() {
			t.Errorf("%d bytes: Stat %+v, %v", size, object, err)
		}
	}
	if err := s.Delete(t.Context(), "b/one"); err != nil {
		t.Error(err)
	}
}

func testFailedSource(t *testing.T, s Objects) {
	t.Helper()
	large := make([]byte, partSize+100)
	for _, size := range []int{0, 100, len(large)} {
		for _, cause := range []error{
			errors.New("etcd ended"), io.ErrUnexpectedEOF,
			fmt.Errorf("reading the snapshot: %w", io.EOF), fmt.Errorf("reading the snapshot: %w", io.ErrUnexpectedEOF),
		} {
			from := io.MultiReader(bytes.NewReader(large[:size]), iotest.ErrReader(cause))
			if err := s.Put(t.Context(), "c/half", from); !errors.Is(err, cause) {
				t.Errorf("%d bytes, %v: %v", size, cause, err)
			}
		}
	}
	if objects, err := s.List(t.Context(), "c/"); err != nil || len(objects) != 0 {
		t.Errorf("left %v, %v", objects, err)
	}
}

func testListAndDelete(t *testing.T, s Objects) {
	t.Helper()
	keys := []string{"d/1/x", "d/1/y", "d/2/x", "dd/x"}
	for _, key := range keys {
		if err := s.Put(t.Context(), key, strings.NewReader(key)); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string][]string{"d/": keys[:3], "d/1/": keys[:2], "": keys, "none/": nil} {
		if got := listed(t, s, prefix); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", prefix, got, want)
		}
	}
	for i, key := range keys {
		if err := s.Delete(t.Context(), key); err != nil {
			t.Error(err)
		}
		if got := listed(t, s, ""); !slices.Equal(got, keys[i+1:]) {
			t.Errorf("after %s: %v", key, got)
		}
	}
}

func listed(t *testing.T, s Objects, prefix string) []string {
	t.Helper()
	objects, err := s.List(t.Context(), prefix)
	if err != nil {
		t.Error(err)
	}
	var keys []string
	for _, object := range objects {
		if object.Size != int64(len(object.Key)) || object.Modified.IsZero() || object.Partial {
			t.Errorf("got %+v", object)
		}
		keys = append(keys, object.Key)
	}
	slices.Sort(keys)
	return keys
}

func content(t *testing.T, s Objects, key string) ([]byte, error) {
	t.Helper()
	body, err := s.Get(t.Context(), key)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}
