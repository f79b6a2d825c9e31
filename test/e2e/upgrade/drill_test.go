//go:build e2e

package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestBackupDrill restores backups beside the cluster and rehearses an upgrade on them, as
// docs/backup.md describes it.
func TestBackupDrill(t *testing.T) {
	s := newBareSite(t, cluster.Spec{Name: "updrill", Kubernetes: older}, inCluster)
	s.Install(t)
	d := &drills{site: s, release: s.CreateRelease(t, newer), cp: s.First(cluster.RoleControlPlane)}
	s.pinBackups(t)
	t.Run("default", d.testDefault)
	t.Run("rehearsed", d.testRehearsed)
	t.Run("killed", d.testKilled)
	t.Run("deleted", d.testDeleted)
	t.Run("findings", d.testFindings)
}

// drills is a control plane node whose backups are drilled.
type drills struct {
	*site

	release *bed.Release
	cp      *cluster.Node
}

// request creates an EtcdBackup that rehearses the upgrade.
func (d *drills) request(t *testing.T, name string) {
	t.Helper()
	d.requestTo(t, name, "local")
}

func (d *drills) requestTo(t *testing.T, name, store string) {
	t.Helper()
	manifest := fmt.Sprintf(`{apiVersion: refit.dev/v1alpha1, kind: EtcdBackup, metadata: {name: %s},
spec: {store: %s, drill: Rehearse, hops: [{name: %s, digest: %q}]}}`, name, store, d.release.Ref.Name, d.release.Ref.Digest)
	_, err := d.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
	must(t, err)
}

// ready waits until an EtcdBackup is ready, and returns it.
func (d *drills) ready(t *testing.T, name string) *refitv1alpha1.EtcdBackup {
	t.Helper()
	if _, err := d.Kubectl(t.Context(), nil, "wait", "--for=condition=Ready", "etcdbackup/"+name, "--timeout=8m"); err != nil {
		state, _ := d.Kubectl(t.Context(), nil, "get", "etcdbackup,nodeupgrade", "--output=yaml")
		log, _ := d.cp.Exec(t.Context(), "journalctl", "--unit=refit-agent", "--no-pager", "--lines=80")
		t.Fatalf("%v\n%s\n%s", err, state, log)
	}
	text, err := d.Kubectl(t.Context(), nil, "get", "etcdbackup", name, "--output=json")
	must(t, err)
	found := &refitv1alpha1.EtcdBackup{}
	must(t, json.Unmarshal(text, found))
	return found
}

// testDefault takes a backup that requests nothing: it is restored in a drill.
func (d *drills) testDefault(t *testing.T) {
	manifest := "{apiVersion: refit.dev/v1alpha1, kind: EtcdBackup, metadata: {name: default}, spec: {store: local}}"
	_, err := d.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
	must(t, err)
	if got := d.ready(t, "default").Status; got.Drilled == nil || len(got.Rehearsed) > 0 {
		t.Errorf("got %+v", got)
	}
	d.nothingLeft(t)
}

func (d *drills) testRehearsed(t *testing.T) {
	d.request(t, "rehearsed")
	got := d.ready(t, "rehearsed").Status
	if got.Drilled == nil || got.ReadBack == nil || len(got.Rehearsed) != 1 {
		t.Fatalf("got %+v", got)
	}
	hop := got.Rehearsed[0]
	if hop.Release != d.release.Ref || hop.Kubernetes != newer || len(hop.Findings) > 0 || hop.Resources < 50 || hop.Objects < 100 {
		t.Errorf("got %+v", hop)
	}
	bed.Show(t, "rehearsed_hop", float64(hop.Seconds), "s")
	for _, args := range [][]string{{"get", "etcdbackups"}, {"get", "etcdbackup", "rehearsed", "--output=yaml"}} {
		text, err := d.Kubectl(t.Context(), nil, args...)
		must(t, err)
		t.Logf("kubectl %s:\n%s", strings.Join(args, " "), text)
	}
	log, err := d.cp.Exec(t.Context(), "journalctl", "--unit=refit-agent", "--no-pager", "--lines=40")
	must(t, err)
	t.Logf("%s", log)
	d.nothingLeft(t)
}

// testKilled kills the agent during the drill of the first attempt and during the rehearsal of the
// second. The third succeeds.
func (d *drills) testKilled(t *testing.T) {
	d.request(t, "killed")
	d.killDuring(t, "restore read etcd")
	d.killDuring(t, "apiserver")
	if got := d.ready(t, "killed").Status; got.Attempt != 3 || got.Drilled == nil || len(got.Rehearsed) != 1 || len(got.Rehearsed[0].Findings) > 0 {
		t.Errorf("got %+v", got)
	}
	for _, step := range []string{"drill", "rehearse"} {
		_, err := d.cp.Exec(t.Context(), "sh", "-c", `journalctl --unit=refit-agent --no-pager | grep '"step":"`+step+`","reason":"Interrupted"'`)
		must(t, err)
	}
	d.nothingLeft(t)
}

// killDuring kills the agent once one of the units of a drill runs.
func (d *drills) killDuring(t *testing.T, units string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	script := `while true; do for unit in ` + units + `; do
if systemctl is-active --quiet refit-rehearsal-$unit; then systemctl kill --signal=KILL --kill-whom=main refit-agent; echo $unit; exit; fi
done; sleep 0.02; done`
	out, err := d.cp.Exec(ctx, "sh", "-c", script)
	must(t, err)
	t.Logf("killed during %s", out)
}

// testDeleted deletes an EtcdBackup during its rehearsal: the agent stops it.
func (d *drills) testDeleted(t *testing.T) {
	d.request(t, "deleted")
	must(t, until(t.Context(), "the rehearsal", 5*time.Minute, func(ctx context.Context) error {
		_, err := d.cp.Exec(ctx, "systemctl", "is-active", "refit-rehearsal-etcd")
		return err
	}))
	_, err := d.Kubectl(t.Context(), nil, "delete", "etcdbackup", "deleted")
	must(t, err)
	must(t, until(t.Context(), "the end of the backup", recovery, func(ctx context.Context) error {
		text, err := d.Kubectl(ctx, nil, "get", "nodeupgrade", d.cp.Name(), "--output=jsonpath={.spec.permit} {.status.backup.phase} {.status.backup.error.reason}")
		if err == nil && string(text) != "Hold Failed BackupStopped" {
			err = errors.New(string(text))
		}
		return err
	}))
	d.nothingLeft(t)
}

// testFindings rehearses a flag that the target version does not have. The backup succeeds.
func (d *drills) testFindings(t *testing.T) {
	config, err := d.Kubectl(t.Context(), nil, "--namespace=kube-system", "get", "configmap", "kubeadm-config", "--output=json")
	must(t, err)
	var object struct {
		Data map[string]string `json:"data"`
	}
	must(t, json.Unmarshal(config, &object))
	before := object.Data["ClusterConfiguration"]
	broken := strings.Replace(before, "apiServer:", "apiServer:\n  extraArgs:\n  - name: feature-gates\n    value: NoSuchGate=true", 1)
	broken = strings.Replace(broken, "NoSuchGate=true {}", "NoSuchGate=true", 1)
	d.setClusterConfiguration(t, broken)
	defer d.setClusterConfiguration(t, before)
	d.request(t, "findings")
	got := d.ready(t, "findings").Status
	if got.Drilled == nil || len(got.Rehearsed) != 1 || len(got.Rehearsed[0].Findings) != 1 || got.Rehearsed[0].Findings[0].Reason != "FeatureGateUnknown" {
		t.Fatalf("got %+v", got)
	}
	t.Logf("%+v", got.Rehearsed[0].Findings[0])
	d.nothingLeft(t)
}

func (d *drills) setClusterConfiguration(t *testing.T, text string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"data": map[string]string{"ClusterConfiguration": text}})
	must(t, err)
	_, err = d.Kubectl(t.Context(), nil, "--namespace=kube-system", "patch", "configmap", "kubeadm-config", "--type=merge", "--patch="+string(patch))
	must(t, err)
}

// nothingLeft fails the test if a drill has left something on the node.
func (d *drills) nothingLeft(t *testing.T) {
	t.Helper()
	if err := bed.RehearsalLeft(t.Context(), d.cp); err != nil {
		t.Error(err)
	}
}
