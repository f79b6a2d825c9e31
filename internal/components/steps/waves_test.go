package steps

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// TestARollbackWhoseObjectsDoNotBecomeReady: the steps after it may be what they need.
func TestARollbackWhoseObjectsDoNotBecomeReady(t *testing.T) {
	frozen := errors.New("the freeze has reached its limit")
	for situation, c := range map[string]struct {
		expired error
		want    error
	}{
		"within the limit of the step": {},
		"at the limit of a freeze":     {expired: frozen, want: frozen},
	} {
		t.Run(situation, func(t *testing.T) {
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
			live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "hunter2"}}
			content := &unstructured.Unstructured{}
			content.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
			content.SetName(live.Name)
			r := runOf("1")
			r.client = fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithObjects(live).Build()
			r.Component.Release.Namespace, r.secret, r.Waiting = "shop", []string{"hunter2"}, func(string) {}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(time.Minute), c.expired)
				defer cancel()
				err := r.restored(ctx, component.Step{Name: "undo-wave-rest"}, []helm.Object{{Content: content}}, helm.Wave{Last: true})
				if (err == nil) != (c.want == nil) || c.want != nil && !errors.Is(context.Cause(ctx), c.want) {
					t.Errorf("the result is %v", err)
				}
			})
			if c.want == nil && (len(r.Left) != 1 || !strings.HasPrefix(r.Left[0], "undo-wave-rest: Deployment shop/(masked) is not ready after 1m0s: ")) {
				t.Errorf("it left %q", r.Left)
			}
		})
	}
}

// TestTheUndoOfAWaveThatWroteNoRevision: Helm cannot roll back to a manifest whose kinds the API
// server no longer has, and the CRDs are restored after the waves.
func TestTheUndoOfAWaveThatWroteNoRevision(t *testing.T) {
	const revision = `{"name": "app", "namespace": "shop", "version": 3, "info": {"status": "deployed"},
		"manifest": "apiVersion: example.test/v1\nkind: Thing\nmetadata: {name: a}\n"}`
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(revision)); err != nil || w.Close() != nil {
		t.Fatal("cannot pack the revision")
	}
	record := corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "sh.helm.release.v1.app.v3", Labels: map[string]string{"name": "app", "owner": "helm", "status": "deployed", "version": "3"}},
		Type:       "helm.sh/release.v1", Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		list := corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}, Items: []corev1.Secret{record}}
		if request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/secrets") {
			http.Error(w, "no matches for kind", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
	}))
	defer server.Close()
	r := runOf("1")
	r.Lease, r.Config, r.Log = t.Context(), &rest.Config{Host: server.URL}, slog.New(slog.DiscardHandler)
	r.Component.Release = refitv1alpha1.HelmRelease{Namespace: "shop", Name: "app"}
	r.saved = &saved{Revision: 3}
	if err := undoWave(t.Context(), r, component.Step{Name: "undo-wave-rest", Of: "wave-rest", Kind: component.StepWave}); err != nil {
		t.Error(err)
	}
	r.saved.Revision = 2
	if err := undoWave(t.Context(), r, component.Step{Name: "undo-wave-rest", Of: "wave-rest", Kind: component.StepWave}); err == nil {
		t.Error("a wave that wrote a revision is not undone")
	}
}
