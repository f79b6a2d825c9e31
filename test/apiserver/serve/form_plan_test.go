//go:build apiserver

package serve

import (
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// planning is a cluster whose components are planned: with refit-components and one node.
type planning struct {
	*cluster
	key     ed25519.PrivateKey
	server  *serving
	token   string
	offers  *components.Reconciler
	archive []byte
}

func newPlanning(t *testing.T) *planning {
	t.Helper()
	p := &planning{cluster: apart(t), key: artifact.NewKey()}
	must(t, p.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: componentsNamespace}}))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cp-1", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}}
	must(t, p.Create(t.Context(), node))
	node.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: p.Version(), ContainerRuntimeVersion: "containerd://2.1.4", KernelVersion: "6.1.0"}
	must(t, p.Status().Update(t.Context(), node))

	directory, keys := t.TempDir(), t.TempDir()
	must(t, os.Chmod(keys, 0o755))
	public, err := artifact.MarshalPublic(artifact.PublicOf(p.key).Key)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(keys, "release.pem"), public, 0o644))
	must(t, os.Mkdir(filepath.Join(directory, "templates"), 0o755))
	for name, content := range map[string]string{
		"Chart.yaml":              "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		"templates/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {host: {{ dig \"ingress\" \"host\" \"\" .Values.AsMap | quote }}}\n",
	} {
		must(t, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o644))
	}
	p.archive, err = helm.Pack(directory)
	must(t, err)
	must(t, charts.Put(t.Context(), p.Client, p.archive))
	p.offers = components.NewReconciler(p.Client, p.RESTConfig(), components.Options{Keys: keys, Log: slog.New(slog.DiscardHandler)})
	p.token = p.cluster.token(t, "planner", "cluster-admin")
	p.server = p.serve(t, t.TempDir()).current(t, p.token)
	return p
}

// publish adds a ClusterRelease with one component and a form, nil for none.
func (p *planning) publish(t *testing.T, name, component string, f *refitv1alpha1.ComponentForm) {
	t.Helper()
	payload, err := json.Marshal(refitv1alpha1.ReleasePayload{Kubernetes: p.Version(), Files: clustertest.DebFiles(p.Version())})
	must(t, err)
	envelope, err := artifact.Sign(payload, p.key)
	must(t, err)
	signed, err := artifact.Unverified(envelope)
	must(t, err)
	list, err := artifact.SignComponents(refitv1alpha1.ComponentsPayload{Release: signed.Digest, Form: f, Components: []refitv1alpha1.ReleaseComponent{{
		Name: component, Version: "1.0.0", Release: refitv1alpha1.HelmRelease{Namespace: component, Name: component}, UserMay: []string{"**"},
		Chart: charts.Identify(p.archive),
	}}}, p.key)
	must(t, err)
	must(t, p.Create(t.Context(), &refitv1alpha1.ClusterRelease{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: p.Version(), Envelope: envelope, Components: list},
	}))
	must(t, client.IgnoreAlreadyExists(p.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: component}})))
}

// plan computes the offers of a component, and returns the hash of a plan and its findings about
// forms.
func (p *planning) plan(t *testing.T, release, component string) (hash string, findings []cliv1alpha1.Finding) {
	t.Helper()
	for range 2 { // the first one may create the Component
		_, err := p.offers.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: component}})
		must(t, err)
	}
	answer, body := p.server.send(t, request{
		method: http.MethodPost, path: prefix + "checks", token: p.token, body: `{"target":{"release":"` + release + `"}}`, header: http.Header{"Prefer": {"wait=20"}},
	})
	var check api.Check
	must(t, json.Unmarshal(body, &check))
	if answer.StatusCode != http.StatusOK || check.Report.Plan == nil || check.Report.Plan.Hash == "" {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	for _, stage := range check.Report.Plan.Stages {
		for i := range stage.Components {
			if stage.Components[i].Name != component {
				t.Errorf("the plan changes %s", stage.Components[i].Name)
			}
		}
	}
	return check.Report.Plan.Hash, slices.DeleteFunc(check.Report.Findings, func(f cliv1alpha1.Finding) bool { return f.Check != "FormIncomplete" })
}

func (p *planning) save(t *testing.T, release, answers string) {
	t.Helper()
	answer, body := p.server.send(t, request{
		method: http.MethodPut, path: prefix + "config?release=" + release, token: p.token, body: `{"answers":` + answers + `}`, header: http.Header{"If-Match": {"*"}},
	})
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
}

// TestAnswersChangeThePlan follows answers to the hash of the plan, which the approval covers.
func TestAnswersChangeThePlan(t *testing.T) {
	p := newPlanning(t)
	p.publish(t, "with-form", "shop", aForm())
	p.publish(t, "without-form", "tools", nil)
	without, findings := p.plan(t, "without-form", "tools")
	if len(findings) > 0 {
		t.Errorf("without a form: %+v", findings)
	}
	empty, findings := p.plan(t, "with-form", "shop")
	if len(findings) != 1 || findings[0].Severity != "Warn" || findings[0].Object != "Component shop" || !strings.HasSuffix(findings[0].Message, ": Host (ingress.host)") {
		t.Errorf("before the form is filled in: %+v", findings)
	}
	first := ""
	known := map[string]string{empty: "no answers"}
	for _, c := range []struct {
		answers string
		repeats bool
	}{
		{`{"host":"a.test"}`, false},
		{`{"host":"a.test"}`, true},
		{`{"host":"b.test"}`, false},
		{`{"host":"a.test","replicas":3}`, false},
		{`{"host":"a.test","tls":true,"password":"canary-one"}`, false},
		{`{"host":"a.test","tls":true,"password":"canary-two"}`, false},
		{`{"host":"a.test","replicas":2,"tls":false}`, true}, // the defaults
	} {
		p.save(t, "with-form", c.answers)
		hash, findings := p.plan(t, "with-form", "shop")
		if len(findings) > 0 {
			t.Errorf("%s: %+v", c.answers, findings)
		}
		if first == "" {
			first = hash
		}
		if c.repeats && hash != first || !c.repeats && known[hash] != "" {
			t.Errorf("%s has the hash %s, that of the first answers is %s, known are %v", c.answers, hash, first, known)
		}
		known[hash] = c.answers
	}
	moved := aForm()
	moved.Groups[0].Items[0].Sets[0].Path = "gateway.host"
	p.publish(t, "next-form", "shop", moved)
	if _, findings := p.plan(t, "next-form", "shop"); len(findings) != 1 || !strings.HasSuffix(findings[0].Message, ": Host (gateway.host)") {
		t.Errorf("answers that the next form sets elsewhere: %+v", findings)
	}
	p.save(t, "next-form", `{"host":"a.test"}`)
	if _, findings := p.plan(t, "next-form", "shop"); len(findings) > 0 {
		t.Errorf("after the next form was saved: %+v", findings)
	}
	p.loses(t, first)
	if again, _ := p.plan(t, "without-form", "tools"); again != without {
		t.Errorf("answers change the plan of a ClusterRelease without a form from %s to %s", without, again)
	}
}

// loses deletes the Secret with the answers. Its remedy leads to the plan that was made before.
func (p *planning) loses(t *testing.T, first string) {
	t.Helper()
	lost := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: componentsNamespace, Name: form.SecretName}}
	must(t, p.Delete(t.Context(), lost))
	_, _ = p.plan(t, "with-form", "shop")
	var component refitv1alpha1.Component
	must(t, p.Get(t.Context(), client.ObjectKey{Name: "shop"}, &component))
	for i := range component.Status.Offers {
		if found := component.Status.Offers[i].Problems; len(found) != 1 || found[0].Reason != "ValuesMissing" || !strings.Contains(found[0].Remedy, "save the form in `refit serve` again") {
			t.Errorf("without the answers: %+v", found)
		}
	}
	must(t, p.Get(t.Context(), client.ObjectKeyFromObject(lost), lost)) // users may not create it
	p.save(t, "with-form", `{"host":"a.test"}`)
	if again, _ := p.plan(t, "with-form", "shop"); again != first {
		t.Errorf("the answers that were saved again have the hash %s, not %s", again, first)
	}
}
