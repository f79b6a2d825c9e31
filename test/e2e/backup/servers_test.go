//go:build e2e

package backup

import (
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/test/e2e/bed"
)

const (
	loopback = "127.0.0.1"
	// stall is short, so that tests of dead connections end soon.
	stall = 5 * time.Second
)

// openS3 opens the bucket at an address of MinIO or of a proxy.
func openS3(t *testing.T, address, secret string) backup.Objects {
	t.Helper()
	s, err := store.OpenS3(store.S3Settings{
		Endpoint: "http://" + address, Bucket: bed.Bucket, PathStyle: true, AccessKey: bed.AccessKey, SecretKey: secret, Stall: stall,
	})
	bed.Must(t, err)
	return s
}

func openGCS(t *testing.T, address string) backup.Objects {
	t.Helper()
	s, err := store.OpenGCS(store.GCSSettings{Endpoint: "http://" + address, Bucket: bed.Bucket, Stall: stall})
	bed.Must(t, err)
	return s
}

func openPath(t *testing.T, dir string) backup.Objects {
	t.Helper()
	s, err := store.OpenPath(dir)
	bed.Must(t, err)
	return s
}
