//go:build e2e

package hosts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// etcdHeld is how long a member stays down. Nothing may go on in this time.
const etcdHeld = 45 * time.Second

// etcdKind is a kind of cluster with an external etcd.
type etcdKind struct {
	figure string
	spec   cluster.Spec
}

// TestExternalEtcdOnControlPlanes upgrades a cluster whose etcd systemd runs on the control plane
// hosts.
func TestExternalEtcdOnControlPlanes(t *testing.T) {
	etcdKind{figure: "etcd_external", spec: cluster.Spec{Name: "etcdcp", Etcd: cluster.EtcdExternal}}.upgrade(t)
}

// TestExternalEtcdOnItsOwnHosts upgrades a cluster whose etcd runs on hosts that are no nodes.
func TestExternalEtcdOnItsOwnHosts(t *testing.T) {
	etcdKind{figure: "etcd_hosts", spec: cluster.Spec{Name: "etcdown", Etcd: cluster.EtcdExternalHosts}}.upgrade(t)
}

// TestKubesprayLayout upgrades a cluster with the paths of kubespray. Its kubelets read another
// configuration than kubeadm writes: preflight refuses the upgrade until the finding is waived.
func TestKubesprayLayout(t *testing.T) {
	etcdKind{figure: "kubespray", spec: cluster.Spec{Name: "spray", Layout: cluster.LayoutKubespray}}.upgrade(t)
}

// upgrade upgrades the cluster, and stops a member of etcd while the first control plane node is
// upgraded: the operation waits, and continues once the member is healthy.
func (k etcdKind) upgrade(t *testing.T) {
	t.Helper()
	spec := k.spec
	spec.ControlPlanes, spec.Workers, spec.Kubernetes = 3, 2, bed.Older
	s := bed.NewSite(t, spec, false)
	s.Install(t)
	r := s.CreateRelease(t, bed.Newer)
	k.checkReports(t, s)
	waivers := k.checkPreflight(t, s)
	plantKey(t, s)
	before := etcdStates(t, s)
	sampling := s.StartSampling(t)
	up := s.Upgrade(t, bed.Newer, waivers...)
	lost := k.stopMember(t, s)
	up.Wait(t, bed.Whole, bed.ExitDone)
	bed.Show(t, k.figure, time.Since(up.Started).Seconds(), "s")
	sampling.End(t, k.figure)
	k.checkUntouched(t, before, etcdStates(t, s), lost)
	bed.Must(t, s.RecordRelease(r.Parts))
	s.IsAt(t, r)
	s.NoCordonLeft(t)
	k.checkRestore(t, s, s.ReliedOnABackup(t, k.figure, r))
}

// checkReports waits until every control plane node reports three healthy members.
func (k etcdKind) checkReports(t *testing.T, s *bed.Site) {
	t.Helper()
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		bed.Must(t, bed.Until(t.Context(), n.Name()+" to report the external etcd", bed.CheckTimeout, func(ctx context.Context) error {
			ctx, cancel := bed.Soon(ctx)
			defer cancel()
			report, err := bed.Get[refitv1alpha1.NodeReport](ctx, s.Bed, bed.NodeReports, n.Name())
			if err != nil {
				return err
			}
			e := report.Status.ExternalEtcd
			if e == nil || report.Status.Etcd != nil || len(e.Members) != 3 {
				return fmt.Errorf("it reports %+v", e)
			}
			for _, m := range e.Members {
				if !m.Healthy || m.Version == "" {
					return fmt.Errorf("it reports the member %+v", m)
				}
			}
			return nil
		}))
	}
}

// checkPreflight checks what preflight and the plan state about etcd, and returns the waivers that
// the upgrade needs. Reports of the agents may be some seconds old.
func (k etcdKind) checkPreflight(t *testing.T, s *bed.Site) (waivers []string) {
	t.Helper()
	if k.spec.Layout == cluster.LayoutKubespray {
		const check = "KubeletConfigElsewhere"
		var refused string
		bed.Must(t, bed.Until(t.Context(), "only the configuration of the kubelets to block", bed.CheckTimeout, func(ctx context.Context) error {
			var err error
			refused, err = s.TryRefit(ctx, "check", "--to", bed.Newer)
			if err == nil || strings.Count(refused, "  Block  ") != 1 {
				return fmt.Errorf("preflight reports %s (%w)", refused, err)
			}
			return bed.Mentions(refused, "Block  "+check, "/etc/kubernetes/kubelet-config.yaml")
		}))
		t.Logf("preflight refuses the layout:\n%s", refused)
		s.Refused(t, bed.ExitBlocked, "upgrade", "--to", bed.Newer, "--yes")
		waivers = []string{"--waive", check + "=kubespray writes the configuration of the kubelets"}
	}
	found := s.RunRefit(t, append([]string{"check", "--to", bed.Newer, "--wide"}, waivers...)...)
	t.Log(found)
	bed.Must(t, bed.Mentions(found, "EtcdExternal", "etcd is external"))
	plan := s.RunRefit(t, append([]string{"plan", "--to", bed.Newer, "--output", "json"}, waivers...)...)
	bed.Must(t, bed.Mentions(plan, "Refit does not upgrade external etcd"))
	return waivers
}

// stopMember stops a member on another host than the one that is upgraded, checks that the
// operation waits for it, and starts it again.
func (k etcdKind) stopMember(t *testing.T, s *bed.Site) *cluster.Node {
	t.Helper()
	first := firstTurn(t, s)
	s.AwaitStep(t, first, "swap-apiserver")
	lost := s.EtcdHosts()[0]
	if lost.Name() == first.Name() {
		lost = s.EtcdHosts()[1]
	}
	_, err := lost.Exec(t.Context(), "systemctl", "stop", "etcd")
	bed.Must(t, err)
	stopped := time.Now()
	t.Logf("%s is upgraded, and the member on %s is stopped", first.Name(), lost.Name())
	ctx, cancel := context.WithTimeout(t.Context(), bed.Whole)
	defer cancel()
	bed.Must(t, bed.Follow(ctx, s.Bed, bed.Operations, etcdOperation, func(u *refitv1alpha1.ClusterUpgrade) bool {
		return etcdWaits(u, lost.Name())
	}))
	bed.Show(t, k.figure+"_noticed", time.Since(stopped).Seconds(), "s")
	time.Sleep(etcdHeld)
	u, err := bed.Get[refitv1alpha1.ClusterUpgrade](t.Context(), s.Bed, bed.Operations, etcdOperation)
	bed.Must(t, err)
	if !etcdWaits(u, lost.Name()) || len(u.Status.Active) != 1 || u.Status.Active[0] != first.Name() {
		t.Errorf("while a member is down, the operation waits for %+v, and %q are active", u.Status.Waiting, u.Status.Active)
	}
	t.Logf("while a member is down:\n%s", s.RunRefit(t, "status"))
	_, err = lost.Exec(t.Context(), "systemctl", "start", "etcd")
	bed.Must(t, err)
	started := time.Now()
	bed.Must(t, bed.Follow(ctx, s.Bed, bed.Operations, etcdOperation, func(u *refitv1alpha1.ClusterUpgrade) bool {
		return !etcdWaits(u, lost.Name())
	}))
	bed.Show(t, k.figure+"_continued", time.Since(started).Seconds(), "s")
	return lost
}

// etcdOperation is the operation that `refit upgrade` creates.
const etcdOperation = "to-v1-36-3"

// etcdWaits reports whether an operation waits for a member of etcd.
func etcdWaits(u *refitv1alpha1.ClusterUpgrade, member string) bool {
	for _, w := range u.Status.Waiting {
		if strings.Contains(w.Message, "the member "+member+" of the external etcd is unhealthy") {
			return true
		}
	}
	return false
}

// checkRestore checks that nothing restores an external etcd, and that the remedy names its tools.
func (k etcdKind) checkRestore(t *testing.T, s *bed.Site, backup string) {
	t.Helper()
	refused := s.Refused(t, bed.ExitFailed, "restore", backup)
	t.Log(refused)
	bed.Must(t, bed.Mentions(refused, "does not restore an external etcd", "etcdutl snapshot restore"))
	_, err := s.First(cluster.RoleControlPlane).Exec(t.Context(), "refit-agent", "restore")
	if err == nil {
		t.Fatal("an agent restores an external etcd")
	}
	bed.Must(t, bed.Mentions(err.Error(), "which Refit does not restore", "etcdutl snapshot restore"))
}

// etcdState is what an upgrade must not change of a member.
type etcdState struct {
	process string // the process id and its start time
	files   string // digests of the binaries, of the unit, of its environment and of the certificates
	data    string // the ids of the cluster and of the member, and a key with its revisions
}

// etcdctl configures etcdctl for the member on a host.
const etcdctl = `set -a; . /etc/etcd.env; ETCDCTL_ENDPOINTS=https://127.0.0.1:2379
	ETCDCTL_CACERT=$ETCD_TRUSTED_CA_FILE ETCDCTL_CERT=$ETCD_CERT_FILE ETCDCTL_KEY=$ETCD_KEY_FILE; `

// plantKey writes a key beside those of Kubernetes.
func plantKey(t *testing.T, s *bed.Site) {
	t.Helper()
	_, err := s.EtcdHosts()[0].Exec(t.Context(), "bash", "-c", etcdctl+"etcdctl put /refit-test planted")
	bed.Must(t, err)
}

func etcdStates(t *testing.T, s *bed.Site) map[string]etcdState {
	t.Helper()
	states := map[string]etcdState{}
	for _, n := range s.EtcdHosts() {
		state, err := etcdStateOf(t.Context(), n)
		bed.Must(t, err)
		t.Logf("etcd on %s: %+v", n.Name(), state)
		states[n.Name()] = state
	}
	return states
}

func etcdStateOf(ctx context.Context, n *cluster.Node) (etcdState, error) {
	run := func(script string) string {
		out, err := n.Exec(ctx, "bash", "-o", "errexit", "-o", "pipefail", "-c", script)
		if err != nil {
			return "unknown: " + err.Error()
		}
		return strings.TrimSpace(string(out))
	}
	state := etcdState{
		process: run(`pid=$(systemctl show --property=MainPID --value etcd); test "$pid" != 0; echo "$pid $(cut -d' ' -f22 "/proc/$pid/stat")"`),
		files: run(`{ sha256sum /usr/local/bin/etcd /usr/local/bin/etcdctl /usr/local/bin/etcdutl /etc/etcd.env /etc/systemd/system/etcd.service
			find /etc/etcd /etc/ssl/etcd -type f -exec sha256sum {} + 2> /dev/null || true; } | sort | sha256sum`),
		data: run(etcdctl + `{ etcdctl endpoint status --write-out=fields; etcdctl get --consistency=s --write-out=fields /refit-test; } |
			grep -E '"(ClusterID|MemberID|Version|CreateRevision|ModRevision|Key|Value)"' | sort`),
	}
	for _, text := range []string{state.process, state.files, state.data} {
		if strings.HasPrefix(text, "unknown") || text == "" {
			return state, errors.New("etcd on " + n.Name() + ": " + text)
		}
	}
	return state, nil
}

// checkUntouched compares the members. The process of the one that the test has stopped is another
// one.
func (k etcdKind) checkUntouched(t *testing.T, before, after map[string]etcdState, lost *cluster.Node) {
	t.Helper()
	same := 0
	for name, was := range before {
		is := after[name]
		if name == lost.Name() {
			is.process = was.process
		}
		if is != was {
			t.Errorf("etcd on %s changed to %+v from %+v", name, is, was)
			continue
		}
		same++
	}
	bed.Show(t, k.figure+"_untouched", float64(same), "members")
}
