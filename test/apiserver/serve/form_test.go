//go:build apiserver

package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

const componentsNamespace = "refit-components"

// aForm has a condition, a required item and a password.
func aForm() *refitv1alpha1.ComponentForm {
	sets := func(path string) []refitv1alpha1.FormTarget {
		return []refitv1alpha1.FormTarget{{Component: "shop", Path: path}}
	}
	return &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{
		{Name: "access", Title: "Access", Items: []refitv1alpha1.FormItem{
			{Name: "host", Title: "Host", Type: refitv1alpha1.FormText, Required: true, Pattern: "[a-z.]+", Sets: sets("ingress.host")},
			{Name: "replicas", Title: "Replicas", Type: refitv1alpha1.FormNumber, Default: int64(2), Sets: sets("replicas")},
			{Name: "tls", Title: "HTTPS", Type: refitv1alpha1.FormSwitch, Sets: sets("tls.enabled")},
		}},
		{Name: "database", Title: "Database", When: "values.tls", Items: []refitv1alpha1.FormItem{
			{Name: "password", Title: "Password", Type: refitv1alpha1.FormPassword, Required: true, Valid: "values.password.size() > 8", Message: "must be longer", Sets: sets("db.password")},
		}},
	}}
}

// releaseWithForm adds a ClusterRelease whose components have a form, nil for none.
func (c *cluster) releaseWithForm(t *testing.T, name string, f *refitv1alpha1.ComponentForm) {
	t.Helper()
	key := artifact.NewKey()
	envelope := signedRelease(t, func(p []byte) ([]byte, error) { return artifact.Sign(p, key) })
	signed, err := artifact.Unverified(envelope)
	must(t, err)
	components, err := artifact.SignComponents(refitv1alpha1.ComponentsPayload{Release: signed.Digest, Form: f, Components: []refitv1alpha1.ReleaseComponent{{
		Name: "shop", Version: "1.0.0", Release: refitv1alpha1.HelmRelease{Namespace: "shop", Name: "shop"}, UserMay: []string{"**"},
		Chart: refitv1alpha1.ComponentChart{Digest: "sha256:" + strings.Repeat("a", 64), Size: 1},
	}}}, key)
	must(t, err)
	must(t, c.Create(t.Context(), &refitv1alpha1.ClusterRelease{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: "v1.36.3", Envelope: envelope, Components: components},
	}))
}

// TestTheFormOfAPublisher fills in a form with the roles of Refit, over a restart of the server.
func TestTheFormOfAPublisher(t *testing.T) {
	const secret = "canary-password"
	c := shared(t)
	must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: componentsNamespace}})))
	must(t, c.Create(t.Context(), &corev1.Secret{ // as refit-components does
		ObjectMeta: metav1.ObjectMeta{Namespace: componentsNamespace, Name: form.SecretName},
	}))
	must(t, c.Create(t.Context(), &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}))
	c.releaseWithForm(t, "form-v1.36.3", aForm())
	c.releaseWithForm(t, "plain-v1.36.3", nil)
	viewer, editor := c.token(t, "viewer", "refit-viewer"), c.token(t, "editor", "refit-component-editor")
	must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &rbacv1.ClusterRole{ // all but the verb approve
		ObjectMeta: metav1.ObjectMeta{Name: "serve-almost"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"refit.dev"}, Resources: []string{"components", "clusterreleases"}, Verbs: []string{"get", "list", "patch", "create"}},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{form.SecretName}, Verbs: []string{"get", "update"}},
		},
	})))
	almost := c.token(t, "almost", "serve-almost")
	log, directory := &buffer{}, t.TempDir()
	logging := func(o *server.Options) {
		o.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s := c.serve(t, directory, logging).current(t, viewer)
	schemaOf := compile(t)
	call := func(method, path, token, etag string, answers string, status int, want string) *http.Response {
		t.Helper()
		r := request{method: method, path: prefix + path, token: token, header: http.Header{}}
		if answers != "" {
			r.body = `{"answers":` + answers + `}`
		}
		if etag != "" {
			r.header.Set("If-Match", etag)
		}
		answer, body := s.send(t, r)
		if answer.StatusCode != status || !strings.Contains(string(body), want) {
			t.Errorf("%s %s with %s: %d %s, want %d with %s", method, path, answers, answer.StatusCode, body, status, want)
		}
		hasNone(t, "the answer", string(body), []string{secret})
		switch {
		case status != http.StatusOK:
			validate(t, schemaOf("#/components/schemas/Problem"), body)
		case method == http.MethodPost:
			validate(t, schemaOf("#/components/schemas/RenderedConfig"), body)
		default:
			validate(t, schemaOf("#/components/schemas/Config"), body)
		}
		return answer
	}
	const config, render = "config?release=form-v1.36.3", "config/render?release=form-v1.36.3"

	// Who may what.
	call(http.MethodGet, "config?release=plain-v1.36.3", viewer, "", "", http.StatusOK, `"release":"plain-v1.36.3"`)
	call(http.MethodGet, config, viewer, "", "", http.StatusForbidden, `cannot get resource \"secrets\"`)
	call(http.MethodPost, render, viewer, "", "{}", http.StatusForbidden, "refit-component-editor")
	call(http.MethodPut, config, viewer, "*", "{}", http.StatusForbidden, "patch components.refit.dev")
	call(http.MethodPut, config, almost, "*", "{}", http.StatusForbidden, "approve components.refit.dev")
	for _, a := range []authorizationv1.ResourceAttributes{{Verb: "create"}, {Verb: "list"}, {Verb: "get", Name: "refit-digest-key"}} {
		a.Namespace, a.Resource = componentsNamespace, "secrets"
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "system:serviceaccount:" + namespace + ":editor", ResourceAttributes: &a}}
		must(t, c.Create(t.Context(), review))
		if review.Status.Allowed {
			t.Errorf("an editor may %s the Secret %q", a.Verb, a.Name)
		}
	}

	// Filling it in.
	first := call(http.MethodGet, config, editor, "", "", http.StatusOK, `"pointer":"#/answers/host"`).Header.Get("ETag")
	call(http.MethodPost, render, editor, "", `{"host":"a.test"}`, http.StatusOK, `"items":["host","replicas","tls"]`)
	call(http.MethodPost, render, editor, "", `{"host":"a.test","tls":true}`, http.StatusOK, `"items":["host","replicas","tls","password"]`)
	call(http.MethodPost, render, editor, "", `{"host":"a.test","tls":true,"password":"`+secret+`"}`, http.StatusOK, `"password":"********"`)
	call(http.MethodPut, config, editor, "", `{"host":"a.test"}`, http.StatusPreconditionRequired, "precondition-required")
	call(http.MethodPut, config, editor, `"other"`, `{"host":"a.test"}`, http.StatusPreconditionFailed, "precondition-failed")
	call(http.MethodPut, config, editor, first, `{"host":"NO","other/x":1}`, http.StatusUnprocessableEntity, `"pointer":"#/answers/other~1x"`)
	call(http.MethodPut, config, editor, first, `{"host":["a"]}`, http.StatusUnprocessableEntity, `must be a text`)
	call(http.MethodPut, "config?release=plain-v1.36.3", editor, first, "{}", http.StatusNotFound, "has no form")
	call(http.MethodPut, "config?release=..%2Fx", editor, first, "{}", http.StatusNotFound, "not-found")
	call(http.MethodPut, config, editor, first, `{"host":"a.test","tls":true,"password":"short"}`, http.StatusUnprocessableEntity, "must be longer")
	second := call(http.MethodPut, config, editor, first, `{"host":"a.test","tls":true,"password":"`+secret+`"}`, http.StatusOK, `"passwords":["password"]`).Header.Get("ETag")
	call(http.MethodPut, config, editor, first, `{"host":"b.test"}`, http.StatusPreconditionFailed, "Somebody else")
	call(http.MethodPut, config, editor, first, `{"host":"NO"}`, http.StatusPreconditionFailed, "Somebody else")

	// A save whose answer was lost, or that was interrupted before the Component, is repeated.
	component := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	must(t, c.Patch(t.Context(), component, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"valuesFrom":null}}`))))
	call(http.MethodGet, config, editor, "", "", http.StatusOK, `"pending":["shop"]`)
	again := call(http.MethodPut, config, editor, first, `{"host":"a.test","tls":true,"password":"`+secret+`"}`, http.StatusOK, `"savedFor":"form-v1.36.3"`)
	if again.Header.Get("ETag") != second {
		t.Errorf("the ETag is %s, not %s", again.Header.Get("ETag"), second)
	}

	stored := &corev1.Secret{}
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: componentsNamespace, Name: form.SecretName}, stored))
	must(t, c.Get(t.Context(), client.ObjectKey{Name: "shop"}, component))
	if want := "db:\n  password: " + secret + "\ningress:\n  host: a.test\nreplicas: 2\ntls:\n  enabled: true\n"; string(stored.Data["shop.yaml"]) != want {
		t.Errorf("the values are %s", stored.Data["shop.yaml"])
	}
	if from := component.Spec.ValuesFrom; len(from) != 1 || from[0] != (refitv1alpha1.ValuesSource{Secret: form.SecretName, Key: "shop.yaml"}) {
		t.Errorf("the Component has values from %v", from)
	}

	// After a restart, and without the password.
	s.stop()
	s = c.serve(t, directory, logging).current(t, viewer)
	answer := call(http.MethodGet, config, editor, "", "", http.StatusOK, `"answers":{"host":"a.test","tls":true}`)
	if answer.Header.Get("ETag") != second {
		t.Errorf("the ETag is %s, not %s", answer.Header.Get("ETag"), second)
	}
	call(http.MethodPut, config, editor, second, `{"host":"c.test","replicas":3,"tls":true}`, http.StatusOK, `"replicas":3`)
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: componentsNamespace, Name: form.SecretName}, stored))
	if values := string(stored.Data["shop.yaml"]); !strings.Contains(values, secret) || !strings.Contains(values, "replicas: 3\n") {
		t.Errorf("the values are %s", values)
	}
	admin := s.signIn(t, api.SignIn{Code: s.NewCode()})
	_, audit := s.send(t, request{path: prefix + "audit", cookie: admin})
	if !strings.Contains(string(audit), `"action":"PutConfig"`) || !strings.Contains(string(audit), `"object":"form-v1.36.3"`) {
		t.Errorf("the audit log is %s", audit)
	}
	s.stop()
	texts := log.String()
	files, err := os.ReadDir(directory)
	must(t, err)
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(directory, file.Name()))
		must(t, err)
		texts += string(content)
	}
	status, err := json.Marshal(component)
	must(t, err)
	hasNone(t, "the log, a file of the server or the Component", fmt.Sprint(texts, string(status)), []string{secret})
}
