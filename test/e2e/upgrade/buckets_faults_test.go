//go:build e2e

package upgrade

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
)

// testCut cuts the network during the upload of the first attempt. A later one succeeds.
func (b *buckets) testCut(t *testing.T) {
	b.proxy.Allow(200 << 10) // of more than 1 MiB
	defer b.proxy.Allow(unlimited)
	b.requestIn(t, "cut", "s3")
	must(t, until(t.Context(), "the network to be cut", recovery, func(context.Context) error {
		if !b.proxy.Exhausted() {
			return errors.New("not enough bytes were sent")
		}
		return nil
	}))
	if found := b.backup(t, "cut"); found.Status.ReadBack != nil || isReady(found) {
		t.Errorf("the network is cut, and the backup counts: %+v", found.Status)
	}
	must(t, until(t.Context(), "the failed attempt to be reported", recovery, func(context.Context) error {
		if reason := b.reasonOf(t, "cut"); reason != "StoreUnreachable" {
			return fmt.Errorf("the reason is %q", reason)
		}
		return nil
	}))
	b.proxy.Allow(unlimited)
	_, err := b.Kubectl(t.Context(), nil, "wait", "--for=condition=Ready", "etcdbackup/cut", "--timeout=5m")
	must(t, err)
	if found := b.backup(t, "cut"); found.Status.Attempt < 2 {
		t.Errorf("got attempt %d", found.Status.Attempt)
	}
	b.onlyComplete(t, "s3", 2)
}

// testDropped deletes the first objects of a backup as soon as MinIO has them, as a store does that
// answers 200 and drops what it got.
func (b *buckets) testDropped(t *testing.T) {
	client := b.minio.MinIO(t)
	kept := map[string]bool{}
	for object := range client.ListObjects(t.Context(), bed.Bucket, minio.ListObjectsOptions{Recursive: true}) {
		kept[object.Key] = true
	}
	ctx, stop := context.WithCancel(t.Context())
	dropped := make(chan int)
	go func() {
		count := 0
		for ctx.Err() == nil {
			for object := range client.ListObjects(ctx, bed.Bucket, minio.ListObjectsOptions{Recursive: true}) {
				if object.Err == nil && !kept[object.Key] && client.RemoveObject(ctx, bed.Bucket, object.Key, minio.RemoveObjectOptions{}) == nil {
					count++
				}
			}
		}
		dropped <- count
	}()
	b.requestIn(t, "dropped", "s3")
	_, err := b.Kubectl(t.Context(), nil, "wait", "--for=condition=Stalled", "etcdbackup/dropped", "--timeout=8m")
	stop()
	if count := <-dropped; count == 0 {
		t.Error("no object was dropped")
	}
	must(t, err)
	found := b.backup(t, "dropped")
	if isReady(found) || found.Status.ReadBack != nil || found.Status.Error == nil {
		t.Fatalf("a backup that was dropped counts: %+v", found.Status)
	}
	t.Logf("%s: %s. %s", found.Status.Error.Reason, found.Status.Error.Message, found.Status.Error.Remedy)
	b.onlyComplete(t, "s3", 2)
}

// testFull fills the disk of MinIO.
func (b *buckets) testFull(t *testing.T) {
	small := newSmallBucket(t, b)
	filler := filepath.Join(small.Data, "filler")
	must(t, fill(filler))
	b.requestIn(t, "full", "small")
	_, err := b.Kubectl(t.Context(), nil, "wait", "--for=condition=Stalled", "etcdbackup/full", "--timeout=8m")
	must(t, err)
	if found := b.backup(t, "full"); isReady(found) || found.Status.ReadBack != nil || b.reasonOf(t, "full") != "StoreFull" {
		t.Errorf("got %+v", found.Status)
	}
	must(t, os.Remove(filler))
	must(t, until(t.Context(), "a backup after space was freed", 10*time.Minute, func(ctx context.Context) error {
		_, err := b.TryRefit(ctx, "backup", "create", "--store", "small")
		return err
	}))
}

// newSmallBucket starts another MinIO with a small disk, and creates its BackupStore.
func newSmallBucket(t *testing.T, b *buckets) bed.ObjectStore {
	t.Helper()
	host, _, _ := strings.Cut(b.minio.Address, ":")
	small := bed.StartMinIO(t, host, bed.SmallDisk(t, 160))
	old := b.proxy
	b.proxy = &bed.Proxy{Address: small.Address}
	b.pin(t)
	b.proxy = old
	manifest := fmt.Sprintf(`{apiVersion: refit.dev/v1alpha1, kind: BackupStore, metadata: {name: small},
spec: {s3: {endpoint: 'http://%s', bucket: %s, pathStyle: true}, credentials: bucket, recipients: [%s]}}`, small.Address, bed.Bucket, b.identity.Recipient())
	_, err := b.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
	must(t, err)
	return small
}

// fill writes a file until its disk is full.
func fill(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	block := make([]byte, 1<<20)
	_, _ = rand.Read(block) // never fails
	for err == nil {
		_, err = file.Write(block)
	}
	return nil
}

// requestIn creates an EtcdBackup without a drill.
func (s *site) requestIn(t *testing.T, name, store string) {
	t.Helper()
	manifest := fmt.Sprintf("{apiVersion: refit.dev/v1alpha1, kind: EtcdBackup, metadata: {name: %s}, spec: {store: %s, drill: None}}", name, store)
	_, err := s.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
	must(t, err)
}

func (s *site) reasonOf(t *testing.T, name string) string {
	t.Helper()
	if e := s.backup(t, name).Status.Error; e != nil {
		return e.Reason
	}
	return ""
}

func isReady(b *refitv1alpha1.EtcdBackup) bool { return b.HasEnded() && b.Status.ReadBack != nil }
