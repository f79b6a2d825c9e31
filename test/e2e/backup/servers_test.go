//go:build e2e

package backup

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/progress"
)

const (
	bucket    = "backups"
	accessKey = "refit-test"
	secretKey = "a-secret-key-of-the-test"
	// stall is short, so that tests of dead connections end soon.
	stall = 5 * time.Second
)

var (
	buildOnce sync.Once
	built     builder.ObjectStores
	buildErr  error
)

// binaries returns the servers, and builds missing ones.
func binaries(t *testing.T) builder.ObjectStores {
	t.Helper()
	buildOnce.Do(func() {
		var cache string
		if cache, buildErr = os.UserCacheDir(); buildErr == nil {
			built, buildErr = builder.New(filepath.Join(cache, "refit-testbed"), progress.New(os.Stderr)).ObjectStores(t.Context())
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return built
}

// server is a running server with its data.
type server struct {
	address string
	data    string
}

// start starts a server that ends with the test, and waits until it answers.
func start(t *testing.T, data, path string, environment []string, binary string, args ...string) server {
	t.Helper()
	address := freeAddress(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	for i, arg := range args {
		args[i] = os.Expand(arg, func(name string) string { return map[string]string{"ADDRESS": address, "PORT": port}[name] })
	}
	cmd := exec.Command(binary, args...)
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
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s:\n%s", filepath.Base(binary), text)
		}
	})
	waitFor(t, "http://"+address+path, ended)
	return server{address, data}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func waitFor(t *testing.T, url string, ended <-chan struct{}) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		select {
		case <-ended:
			t.Fatal("the server has ended")
		default:
		}
		response, err := http.Get(url)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatalf("%s does not answer", url)
}

// startMinIO starts MinIO with its data in a directory, and creates the bucket.
func startMinIO(t *testing.T, data string) server {
	t.Helper()
	environment := []string{
		"MINIO_ROOT_USER=" + accessKey, "MINIO_ROOT_PASSWORD=" + secretKey, "MINIO_BROWSER=off", "MINIO_UPDATE=off",
		"MINIO_CI_CD=1", // permits a directory of the root file system
		"HOME=" + t.TempDir(),
	}
	s := start(t, data, "/minio/health/live", environment, binaries(t).MinIO, "server", data, "--address", "${ADDRESS}", "--quiet")
	client, err := minio.New(s.address, &minio.Options{Creds: credentials.NewStaticV4(accessKey, secretKey, "")})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// startGCS starts a server for the API of Google Cloud Storage. A folder is a bucket.
func startGCS(t *testing.T, data string) server {
	t.Helper()
	if err := os.Mkdir(filepath.Join(data, bucket), 0o700); err != nil {
		t.Fatal(err)
	}
	return start(t, data, "/storage/v1/b/"+bucket, nil, binaries(t).FakeGCS, "-scheme", "http", "-host", "127.0.0.1", "-port", "${PORT}",
		"-public-host", "127.0.0.1", "-backend", "filesystem", "-filesystem-root", data)
}

// openS3 opens the bucket at an address of MinIO or of a proxy.
func openS3(t *testing.T, address, secret string) backup.Objects {
	t.Helper()
	s, err := store.OpenS3(store.S3Settings{
		Endpoint: "http://" + address, Bucket: bucket, PathStyle: true, AccessKey: accessKey, SecretKey: secret, Stall: stall,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openGCS(t *testing.T, address string) backup.Objects {
	t.Helper()
	s, err := store.OpenGCS(store.GCSSettings{Endpoint: "http://" + address, Bucket: bucket, Stall: stall})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openPath(t *testing.T, dir string) backup.Objects {
	t.Helper()
	s, err := store.OpenPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// smallDisk returns a file system of a size that ends with the test.
func smallDisk(t *testing.T, mebibytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("refit", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mebibytes)); err != nil {
		t.Fatalf("mounting a small file system (run this as root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}
