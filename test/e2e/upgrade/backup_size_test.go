//go:build e2e

package upgrade

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const etcdPKI = "/etc/kubernetes/pki/etcd/"

// TestBackupSize backs up a large etcd, and compares the backup with etcd's own `snapshot save` of
// the same data to the same disk. REFIT_BACKUP_GIB is the size of the data.
func TestBackupSize(t *testing.T) {
	gib := bed.Count(t, "REFIT_BACKUP_GIB", 2)
	disk := int64(7*gib+8) << 30 // the database, its log, a copy, two stored backups, a restored copy, reserve, images
	s := newSite(t, cluster.Spec{Name: "upsize", ControlPlanes: 1, Kubernetes: older, Disk: disk}, inCluster)
	cp := s.OfRole(cluster.RoleControlPlane)[0]
	s.pinBackups(t)
	must(t, s.BackUpEtcd(t.Context(), cp)) // also copies etcdctl to the host
	must(t, raiseQuota(t.Context(), cp))
	must(t, fillEtcd(t.Context(), cp, gib))

	t.Run("snapshot", func(t *testing.T) { s.testSnapshotAndBackup(t, cp, gib) })
	t.Run("drill", func(t *testing.T) {
		s.costOf(t, cp, "backup_drill", gib, func(context.Context) (float64, error) { s.backUpAs(t, "size-drill", "Restore"); return 0, nil })
		s.isStored(t, "size-drill")
	})
	log, err := cp.Exec(t.Context(), "journalctl", "--unit=refit-agent", "--output=cat", "--grep=backup|snapshot")
	must(t, err)
	t.Logf("the agent:\n%s", log)
}

// testSnapshotAndBackup compares a backup with `snapshot save`.
func (s *site) testSnapshotAndBackup(t *testing.T, cp *cluster.Node, gib int) {
	t.Helper()
	idle := s.costOf(t, cp, "idle", gib, func(ctx context.Context) (float64, error) { return 0, idleFor(ctx, 20*time.Second) })
	save := s.costOf(t, cp, "snapshot_save", gib, func(ctx context.Context) (float64, error) { return saveSnapshot(ctx, cp) })
	must(t, trimDisk(t.Context(), cp))
	backup := s.costOf(t, cp, "backup", gib, func(context.Context) (float64, error) { s.backUpAs(t, "size", "None"); return 0, nil })
	s.isStored(t, "size")
	_, err := cp.Exec(t.Context(), "find", backupDir, "-mindepth", "1", "-delete") // so that the disk holds one stored backup
	must(t, errors.Join(err, trimDisk(t.Context(), cp)))
	show(t, "backup_share_of_snapshot_save", backup.seconds/save.seconds, "ratio")
	show(t, "backup_api_p99_share_of_idle", backup.p99/idle.p99, "ratio")
	log, err := cp.Exec(t.Context(), "journalctl", "--unit=refit-agent", "--output=cat", "--grep=backup|snapshot")
	must(t, err)
	show(t, "backup_upload_share_of_snapshot_save", uploadOf(t, string(log), "size").Seconds()/save.seconds, "ratio")
}

// uploadOf returns how long a backup took from the start of its snapshot until the store had all of
// it, encrypted, before it was read back.
func uploadOf(t *testing.T, log, name string) time.Duration {
	t.Helper()
	var from, to time.Time
	for line := range strings.Lines(log) {
		var at struct {
			Time            time.Time
			Msg, Name, Step string
		}
		switch err := json.Unmarshal([]byte(line), &at); {
		case err != nil || at.Name != name:
		case at.Step == "snapshot":
			from = at.Time
		case strings.HasPrefix(at.Msg, "snapshot is stored"):
			to = at.Time
		}
	}
	if from.IsZero() || !to.After(from) {
		t.Fatalf("the log of the agent does not show when the backup %s was uploaded", name)
	}
	return to.Sub(from)
}

// saveSnapshot runs `etcdctl snapshot save`, and returns its CPU time.
func saveSnapshot(ctx context.Context, cp *cluster.Node) (float64, error) {
	script := fmt.Sprintf("/root/etcdctl --endpoints=https://127.0.0.1:2379 --cacert=%[1]sca.crt --cert=%[1]sserver.crt --key=%[1]sserver.key "+
		"snapshot save /var/lib/etcd/saved.db >/dev/null 2>&1 && rm /var/lib/etcd/saved.db && times", etcdPKI)
	out, err := cp.Exec(ctx, "bash", "-c", script)
	if err != nil {
		return 0, err
	}
	var sum time.Duration // of the second line, which is that of the children: 0m1.234s 0m0.567s
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for text := range strings.FieldsSeq(lines[len(lines)-1]) {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, err
		}
		sum += d
	}
	return sum.Seconds(), nil
}

// trimDisk returns the space of deleted files to this machine: the disk of a node is a file with
// holes, which else grows with everything that was ever written.
func trimDisk(ctx context.Context, cp *cluster.Node) error {
	_, err := cp.Exec(ctx, "fstrim", "/")
	return err
}

func idleFor(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// raiseQuota lets etcd grow beyond its default of 2 GiB, as large clusters do.
func raiseQuota(ctx context.Context, cp *cluster.Node) error {
	manifest, err := bed.ReadOn(ctx, cp, etcdManifest)
	if err != nil {
		return err
	}
	const flag = "    - --data-dir="
	raised := strings.Replace(manifest, flag, "    - --quota-backend-bytes=17179869184\n"+flag, 1)
	if raised == manifest {
		return errors.New("the manifest of etcd has no --data-dir")
	}
	if err := bed.WriteOn(ctx, cp, "/root/etcd.yaml", raised); err != nil {
		return err
	}
	if _, err := cp.Exec(ctx, "mv", "/root/etcd.yaml", etcdManifest); err != nil {
		return err
	}
	return until(ctx, "etcd with a higher quota", recovery, func(ctx context.Context) error {
		if _, err := cp.Exec(ctx, "pgrep", "--full", "quota-backend-bytes"); err != nil {
			return err
		}
		_, err := cp.Exec(ctx, "curl", "--silent", "--fail", "http://127.0.0.1:2381/readyz")
		return err
	})
}

// fillEtcd writes values beside the objects of Kubernetes, so that the memory of the API server
// does not grow with them. Half of each value cannot be compressed.
func fillEtcd(ctx context.Context, cp *cluster.Node, gib int) error {
	client, err := dialEtcd(ctx, cp)
	if err != nil {
		return err
	}
	defer client.Close()
	const size, perGiB = 1 << 20, 1 << 10
	for g := range gib {
		err := putAll(ctx, client, 8, perGiB, func(i int) (string, string) {
			n := g*perGiB + i
			return fmt.Sprintf("/refit-size/%06d", n), valueOf(uint64(n), size)
		})
		if err != nil {
			return err
		}
		// etcd keeps the last entries of its log in memory and on disk until it takes a snapshot of
		// its own. A database that has grown over months has no log as large as itself.
		const snapshotCount = 10_000
		if err := putAll(ctx, client, 64, snapshotCount, func(int) (string, string) { return "/refit-size/last", "" }); err != nil {
			return err
		}
	}
	return nil
}

// putAll puts values, some at the same time.
func putAll(ctx context.Context, client *clientv3.Client, parallel, count int, pair func(i int) (key, value string)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range count {
		group.Go(func() error {
			key, value := pair(i)
			_, err := client.Put(ctx, key, value)
			return err
		})
	}
	return group.Wait()
}

func valueOf(seed uint64, size int) string {
	value := make([]byte, size)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	_, _ = random.Read(value[:size/2]) // never fails
	for i := size / 2; i < size; i++ {
		value[i] = "refit-size-test "[i%16]
	}
	return string(value)
}

func dialEtcd(ctx context.Context, cp *cluster.Node) (*clientv3.Client, error) {
	var pem [3]string
	for i, name := range []string{"ca.crt", "server.crt", "server.key"} {
		text, err := bed.ReadOn(ctx, cp, etcdPKI+name)
		if err != nil {
			return nil, err
		}
		pem[i] = text
	}
	certificate, err := tls.X509KeyPair([]byte(pem[1]), []byte(pem[2]))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(pem[0]))
	return clientv3.New(clientv3.Config{
		Context: ctx, Endpoints: []string{"https://127.0.0.1:2379"},
		TLS: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return cp.Dial(ctx, "tcp", "127.0.0.1:2379")
		})},
	})
}
