package upstream

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// StartRegistry starts a registry in memory, and returns its host and port. bed.StartRegistry is a
// real one, which has to be built.
func StartRegistry(t *testing.T, host string) string {
	t.Helper()
	return strings.TrimPrefix(serve(t, host, registry.New(registry.Logger(log.New(io.Discard, "", 0)))), "http://")
}

// serve starts a server that ends with the test, and returns its URL.
func serve(t *testing.T, host string, handler http.Handler) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	bed.Must(t, err)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving mirrors: %v", err)
		}
	}()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

// push pushes archives of images under their names.
func (u *Upstream) push(t *testing.T, archives []string) {
	t.Helper()
	for _, archive := range archives {
		if strings.HasPrefix(filepath.Base(archive), "busybox") { // only for the testbed
			continue
		}
		manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(archive) })
		bed.Must(t, err)
		for _, tag := range manifest[0].RepoTags {
			from, err := name.NewTag(tag)
			bed.Must(t, err)
			image, err := tarball.ImageFromPath(archive, &from)
			bed.Must(t, err)
			to, err := name.NewTag(u.registry+"/"+from.RepositoryStr()+":"+from.TagStr(), name.Insecure)
			bed.Must(t, err)
			bed.Must(t, remote.Write(to, image, remote.WithContext(t.Context())))
			digest, err := image.Digest()
			bed.Must(t, err)
			u.unsigned = append(u.unsigned, digest.String())
		}
	}
}
