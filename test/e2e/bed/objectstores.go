package bed

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/refit-dev/refit/test/testbed"
)

// The bucket of every object store, and its credentials.
const (
	Bucket    = "backups"
	AccessKey = "refit-test"
	SecretKey = "a-secret-key-of-the-test"
)

// ObjectStore is a server for objects, with its data in a directory.
type ObjectStore struct {
	Address string // host and port
	Data    string
}

// StartMinIO starts MinIO on an address of this machine and creates the bucket. It ends with the
// test.
func StartMinIO(t *testing.T, host, data string) ObjectStore {
	t.Helper()
	binaries, err := testbed.Builder(t).ObjectStores(context.WithoutCancel(t.Context()))
	Must(t, err)
	environment := []string{
		"MINIO_ROOT_USER=" + AccessKey, "MINIO_ROOT_PASSWORD=" + SecretKey, "MINIO_BROWSER=off", "MINIO_UPDATE=off",
		"MINIO_CI_CD=1", // permits a directory of the root file system
		"HOME=" + t.TempDir(),
	}
	address := freeAddress(t, host)
	s := ObjectStore{address, data}
	startServer(t, "http://"+address+"/minio/health/live", environment, binaries.MinIO, "server", data, "--address", address, "--quiet")
	Must(t, s.MinIO(t).MakeBucket(t.Context(), Bucket, minio.MakeBucketOptions{}))
	return s
}

// MinIO returns a client of MinIO.
func (s ObjectStore) MinIO(t *testing.T) *minio.Client {
	t.Helper()
	client, err := minio.New(s.Address, &minio.Options{Creds: credentials.NewStaticV4(AccessKey, SecretKey, "")})
	Must(t, err)
	return client
}

// StartGCS starts a server for the API of Google Cloud Storage. A folder is a bucket.
func StartGCS(t *testing.T, host, data string) ObjectStore {
	t.Helper()
	binaries, err := testbed.Builder(t).ObjectStores(context.WithoutCancel(t.Context()))
	Must(t, err)
	Must(t, os.Mkdir(filepath.Join(data, Bucket), 0o700))
	address := freeAddress(t, host)
	_, port, err := net.SplitHostPort(address)
	Must(t, err)
	startServer(t, "http://"+address+"/storage/v1/b/"+Bucket, nil, binaries.FakeGCS, "-scheme", "http", "-host", host, "-port", port,
		"-public-host", host, "-backend", "filesystem", "-filesystem-root", data)
	return ObjectStore{address, data}
}

// startServer starts a server that ends with the test, and waits until it answers at a URL.
func startServer(t *testing.T, url string, environment []string, binary string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	Must(t, err)
	cmd := exec.Command(binary, args...) //nolint:noctx // it ends with the test
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ended, started := make(chan struct{}), make(chan error)
	go func() { // Pdeathsig applies to the thread that starts the server.
		runtime.LockOSThread()
		defer close(ended)
		started <- cmd.Start()
		_ = cmd.Wait() // it is killed
	}()
	Must(t, <-started)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s:\n%s", filepath.Base(binary), text)
		}
	})
	waitForServer(t, url, ended)
}

func freeAddress(t *testing.T, host string) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	Must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func waitForServer(t *testing.T, url string, ended <-chan struct{}) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		select {
		case <-ended:
			t.Fatal("the server has ended")
		default:
		}
		response, err := http.Get(url) //nolint:gosec,noctx // a server of the test
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK || response.StatusCode == http.StatusMethodNotAllowed { // it takes only POST
				return
			}
		}
	}
	t.Fatalf("%s does not answer", url)
}

// SmallDisk returns a file system of a size that ends with the test.
func SmallDisk(t *testing.T, mebibytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("refit", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mebibytes)); err != nil {
		t.Fatalf("mounting a small file system (run this as root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}
