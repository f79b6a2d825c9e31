package steps

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const apiServerManifest = `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system}
spec:
  containers:
  - {name: kube-apiserver, image: "registry.k8s.io/kube-apiserver:v1.35.4", command: [kube-apiserver]}
`

func inManifestsDir(t *testing.T) {
	t.Helper()
	was := ManifestsDir
	t.Cleanup(func() { ManifestsDir = was })
	ManifestsDir = t.TempDir()
}

func TestRolesOfAHostFollowFromItsManifests(t *testing.T) {
	inManifestsDir(t)
	if HasEtcd() || exists(manifest(kubeadm.APIServer)) {
		t.Error("an empty directory has manifests")
	}
	if _, err := APIServerVersion(); err == nil {
		t.Error("a host without an API server has its version")
	}
	put(t, manifest(kubeadm.APIServer), apiServerManifest)
	put(t, manifest(kubeadm.Etcd), "etcd")
	if !HasEtcd() || !HasControlPlane() {
		t.Error("the manifests are not found")
	}
	if version, err := APIServerVersion(); err != nil || version != "v1.35.4" {
		t.Errorf("APIServerVersion() = %q, %v", version, err)
	}
}

func TestOnlyManifestsThatParseAreBackedUp(t *testing.T) {
	inManifestsDir(t)
	h := testHost(t)
	h.Settings.StateDir = t.TempDir()
	put(t, manifest(kubeadm.APIServer), apiServerManifest)
	must(t, BackUpManifests(h.Settings.StateDir))
	wantText(t, h.knownGood(kubeadm.APIServer), apiServerManifest)
	if exists(h.knownGood(kubeadm.Etcd)) {
		t.Error("a manifest that does not exist has a copy")
	}
	put(t, manifest(kubeadm.APIServer), "{")
	if err := BackUpManifests(h.Settings.StateDir); err == nil {
		t.Error("an invalid manifest replaced the copy")
	}
	wantText(t, h.knownGood(kubeadm.APIServer), apiServerManifest)
}

func TestAVersionWithoutFactsIsRefused(t *testing.T) {
	h := testHost(t)
	if _, err := h.facts(); err != nil {
		t.Error(err)
	}
	h.Upgrade.To = "v1.99.0"
	if _, err := h.facts(); node.FailureOf(err).Reason != "VersionUnknown" {
		t.Errorf("facts() = %v", err)
	}
}

func TestBinariesThatOthersReplacedAreFound(t *testing.T) {
	h := testHost(t)
	path, gone := h.path("kubelet"), h.path("kubectl")
	put(t, path, "by Refit")
	h.HostState.Files = map[string]string{path: digestOf([]byte("by Refit")), gone: digestOf([]byte("by Refit"))}
	must(t, checkForeignChanges(t.Context(), h))
	put(t, path, "by an administrator")
	if f := node.FailureOf(checkForeignChanges(t.Context(), h)); f == nil || f.Reason != "ChangedByOthers" {
		t.Errorf("%+v", f)
	}
}

func TestTheDiskMustHoldTheReserveAndTwoCopiesOfEachFile(t *testing.T) {
	h, _, _ := fetchingHost(t)
	h.Settings.StateDir = t.TempDir()
	must(t, checkDiskSpace(t.Context(), h))
	for situation, change := range map[string]func(*Host){
		"the reserve": func(h *Host) { h.Settings.ReservedDiskMiB = 1 << 40 },
		"a file":      func(h *Host) { h.Release.Payload.Files[0].Size = 1 << 60 },
	} {
		h, _, _ := fetchingHost(t)
		h.Settings.StateDir = t.TempDir()
		change(h)
		if f := node.FailureOf(checkDiskSpace(t.Context(), h)); f == nil || f.Reason != "DiskFull" {
			t.Errorf("%s does not fit, but: %+v", situation, f)
		}
	}
}

func TestPollReturnsTheLastProblemOfACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		calls := 0
		problem, err := poll(limited, time.Second, func(ctx context.Context) (string, error) {
			calls++
			if calls > 2 { // a request that the deadline ends
				<-ctx.Done()
				return "context deadline exceeded", nil
			}
			return "not ready", nil
		})
		if problem != "not ready" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("poll() = %q, %v", problem, err)
		}
		problem, err = poll(t.Context(), time.Second, func(context.Context) (string, error) { return "", nil })
		if problem != "" || err != nil {
			t.Errorf("poll() of a check that passes = %q, %v", problem, err)
		}
		broken := errors.New("broken")
		if _, err = poll(t.Context(), time.Second, func(context.Context) (string, error) { return "x", broken }); !errors.Is(err, broken) {
			t.Errorf("poll() of a check that fails = %v", err)
		}
	})
}
