package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/cluster"
	"github.com/refit-dev/refit/internal/agent/report"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	nodeName  = "worker-1"
	nodeUID   = "0b6e8f6a-1111-4222-8333-444444444444"
	machineID = "0123456789abcdef0123456789abcdef"
)

// apiStub implements the requests that judging an order needs.
type apiStub struct {
	api
	release refitv1alpha1.ClusterRelease
}

func (s *apiStub) NodeName() string { return nodeName }

func (s *apiStub) Node(context.Context) (*corev1.Node, error) {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, UID: nodeUID}}, nil
}

func (s *apiStub) Release(context.Context, string) (*refitv1alpha1.ClusterRelease, error) {
	return &s.release, nil
}

func newTestAgent(t *testing.T, client api, keys ...artifact.PublicKey) *Agent {
	t.Helper()
	s := settings.Default()
	s.StateDir = t.TempDir()
	dir := t.TempDir()
	for i, key := range keys {
		writeKey(t, filepath.Join(dir, fmt.Sprintf("%d.pem", i)), key)
	}
	log := slog.New(slog.DiscardHandler)
	a := &Agent{
		Config: Config{Settings: s, KeysDir: dir, Log: log, Version: "test"}, client: client, orders: newLatestOrder(),
		id:          host.Identity{MachineID: machineID, BootID: "boot", Arch: "amd64"},
		state:       node.HostState{Format: 1, MachineID: machineID, Sequence: 7, Epoch: 3},
		reportState: reportState{cache: report.NewCache()},
	}
	a.status = newStatusWriter(log, "boot", "test")
	a.reports = newReporter(a)
	a.resumeBackups(t.Context())
	return a
}

func writeKey(t *testing.T, path string, key artifact.PublicKey) {
	t.Helper()
	text, err := artifact.MarshalPublic(key.Key)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func goodOrder(digest string) *refitv1alpha1.NodeUpgrade {
	return &refitv1alpha1.NodeUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName},
		Spec: refitv1alpha1.NodeUpgradeSpec{
			Format: 1, Operation: refitv1alpha1.Operation{Name: "op", UID: "op-uid"}, NodeUID: nodeUID, MachineID: machineID, Sequence: 8, Epoch: 3,
			Role: refitv1alpha1.RoleWorker, Release: refitv1alpha1.ReleaseRef{Name: "r", Digest: digest}, Permit: refitv1alpha1.PermitApply,
		},
	}
}

func digestOf(payload []byte) string {
	sum := sha256.Sum256(payload)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// payload is a complete ClusterRelease payload.
func payload(kubernetes string) []byte {
	blob := fmt.Sprintf(`"digest":"sha256:%064d","size":1,"path":"p"`, 1)
	file := func(part string) string {
		return fmt.Sprintf(`{"part":%q,"name":%q,"kind":"Binary","os":"linux","arch":"amd64","version":%q,%s}`, part, part, kubernetes, blob)
	}
	return fmt.Appendf(nil, `{"kubernetes":%q,"files":[%s,%s,%s]}`, kubernetes, file("kubeadm"), file("kubelet"), file("kubectl"))
}

// Whatever a NodeUpgrade or ClusterRelease contains, nothing starts on a host unless a pinned key
// signed it and the order is new and for this host.
func TestFuzzedOrdersAndReleasesStartNothing(t *testing.T) {
	runs, seed := 1_000, uint64(time.Now().UnixNano())
	if text := os.Getenv("REFIT_FUZZ"); text != "" {
		runs, _ = strconv.Atoi(text)
	}
	if text := os.Getenv("REFIT_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("%d runs, seed %d", runs, seed)
	r := rand.New(rand.NewPCG(seed, 1))
	pinned, foreign := artifact.NewKey(), artifact.NewKey()
	stub := &apiStub{}
	a := newTestAgent(t, stub, artifact.PublicOf(pinned))
	before := a.state
	refused := map[string]int{}
	for range runs {
		body := payload("v1.36.3")
		signed, err := artifact.Sign(body, foreign)
		if err != nil {
			t.Fatal(err)
		}
		order := goodOrder(digestOf(body))
		stub.release = refitv1alpha1.ClusterRelease{Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: "v1.36.3", Envelope: signed}}
		if r.IntN(2) == 0 { // a valid signature with one flipped bit
			if signed, err = artifact.Sign(body, pinned); err != nil {
				t.Fatal(err)
			}
			signed[r.IntN(len(signed))] ^= 1 << r.IntN(8)
			stub.release.Spec.Envelope = signed
			if _, err := artifact.Verify(signed, []artifact.PublicKey{artifact.PublicOf(pinned)}); err == nil {
				continue // an insignificant bit, such as in a space
			}
		}
		mutate(r, &order.Spec)
		err = a.accept(t.Context(), order)
		refusal, ok := errors.AsType[*node.Refusal](err)
		if err != nil && !ok {
			t.Fatalf("seed %d: %+v: %v", seed, order.Spec, err)
		}
		switch {
		case ok:
			refused[refusal.Reason]++
		case a.state.Result != nil && a.state.Result.Failure != nil:
			refused[a.state.Result.Failure.Reason]++
		}
		if a.upgrade != nil || a.state.Open != "" {
			t.Fatalf("seed %d: an upgrade started for %+v", seed, order.Spec)
		}
		a.state = before
	}
	t.Logf("refused: %v", refused)
	if entries, err := os.ReadDir(a.Settings.UpgradesDir()); err == nil && len(entries) > 0 {
		t.Errorf("%d upgrades on disk", len(entries))
	}
	for _, reason := range []string{node.RefusedRelease, node.RefusedMachine, node.RefusedSequence, node.RefusedEpoch, node.RefusedFormat} {
		if refused[reason] == 0 {
			t.Errorf("no order was refused for %s: the test does not cover it", reason)
		}
	}
}

func mutate(r *rand.Rand, s *refitv1alpha1.NodeUpgradeSpec) {
	for range r.IntN(3) {
		switch r.IntN(9) {
		case 0:
			s.Format = int32(r.IntN(5)) - 1
		case 1:
			s.NodeUID = types.UID(noise(r))
		case 2:
			s.MachineID = noise(r)
		case 3:
			s.Sequence = r.Int64N(20) - 5
		case 4:
			s.Epoch = r.Int64N(10) - 3
		case 5:
			s.Role = refitv1alpha1.Role(noise(r))
		case 6:
			s.Release = refitv1alpha1.ReleaseRef{Name: noise(r), Digest: "sha256:" + noise(r)}
		case 7:
			s.Permit = []refitv1alpha1.Permit{refitv1alpha1.PermitApply, refitv1alpha1.PermitPrefetch, refitv1alpha1.Permit(noise(r))}[r.IntN(3)]
		case 8:
			s.Operation.UID = types.UID(noise(r))
		}
	}
}

// noise is text that an attacker might hope to have executed.
func noise(r *rand.Rand) string {
	return []string{"", "$(reboot)", "../../etc/shadow", "--help", "a\x00b", "`id`", "; rm -rf /", "%s%n", "\n", "sha256:zz"}[r.IntN(10)]
}

func TestInvalidReleasesAreRefused(t *testing.T) {
	pinned := artifact.NewKey()
	body := payload("v1.36.3")
	signed, err := artifact.Sign(body, pinned)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := artifact.Sign(body, artifact.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	for _, situation := range []struct {
		name     string
		envelope []byte
		version  string
		digest   string
	}{
		{"signed by a key that is not pinned", forged, "v1.36.3", digestOf(body)},
		{"another digest than in the order", signed, "v1.36.3", digestOf(payload("v1.36.2"))},
		{"another version in the spec than in the payload", signed, "v1.35.4", digestOf(body)},
		{"no envelope", nil, "v1.36.3", digestOf(body)},
	} {
		t.Run(situation.name, func(t *testing.T) {
			stub := &apiStub{release: refitv1alpha1.ClusterRelease{Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: situation.version, Envelope: situation.envelope}}}
			a := newTestAgent(t, stub, artifact.PublicOf(pinned))
			if err := a.accept(t.Context(), goodOrder(situation.digest)); err != nil {
				t.Fatal(err)
			}
			result := a.state.Result
			if a.upgrade != nil || result == nil || result.Phase != refitv1alpha1.NodeFailed || result.Failure.Reason != node.RefusedRelease {
				t.Errorf("got %+v", result)
			}
			if status, _, _ := a.status.compose(); status.ObservedSequence != 8 || status.Phase != refitv1alpha1.NodeFailed || status.Error == nil {
				t.Errorf("the status is %+v", status)
			}
		})
	}
}

var _ api = (*cluster.Client)(nil)
