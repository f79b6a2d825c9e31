package agent

import (
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// A key that was removed from the host while the agent runs verifies nothing any more.
func TestRemovedKeyIsNotTrusted(t *testing.T) {
	key := artifact.NewKey()
	body := payload("v1.36.3")
	envelope, err := artifact.Sign(body, key)
	if err != nil {
		t.Fatal(err)
	}
	ref := refitv1alpha1.ReleaseRef{Name: "r", Digest: digestOf(body)}
	stub := &apiStub{release: refitv1alpha1.ClusterRelease{Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: "v1.36.3", Envelope: envelope}}}
	a := newTestAgent(t, stub, artifact.PublicOf(key))
	if _, err := a.verified(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.KeysDir, "0.pem")); err != nil {
		t.Fatal(err)
	}
	_, err = a.verified(t.Context(), ref)
	if failure := permanent(err); failure == nil || failure.Reason != node.RefusedRelease {
		t.Errorf("got %v", err)
	}
	if ids := a.keyIDs(); len(ids) != 0 {
		t.Errorf("reports the keys %v", ids)
	}
	// An upgrade that has changed nothing yet must not start either.
	if err := a.checkRelease(envelope)(); err == nil || node.FailureOf(err).Reason != node.RefusedRelease {
		t.Errorf("got %v", err)
	}
	writeKey(t, filepath.Join(a.KeysDir, "again.pem"), artifact.PublicOf(key))
	if err := a.checkRelease(envelope)(); err != nil {
		t.Error(err)
	}
}
