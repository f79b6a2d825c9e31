//go:build apiserver

package crd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/test/apiserver"
)

// converted returns a CRD with a conversion webhook.
func (l *lane) converted(conversion *apiextensionsv1.CustomResourceConversion) *crd.Definition {
	d := l.crd("Widget", version("v2", properties{"message": text, "extra": text}), version("v1", properties{"text": text}))
	d.Spec.Conversion = conversion
	return d
}

func TestAnUnreachableWebhookIsFoundBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	l := newLane(t)
	conversion, server := webhook(t)
	live := l.define(t, l.converted(conversion))
	l.create(t, live, l.object(live, "v1", "first", map[string]any{"text": "1"}))
	to := l.converted(conversion)
	actor := l.actor(&apiserver.Killer{})
	report, err := actor.Judge(l.bounded(), to)
	must(t, err)
	if report.Total != 0 || report.Objects != 2 { // in each version
		t.Errorf("reachable: %+v", report)
	}
	server.Close()
	k := &apiserver.Killer{}
	report, err = l.actor(k).Judge(l.bounded(), to)
	must(t, err)
	if k.Writes() != 0 || !report.Blocks() || len(report.Findings) != 1 || report.Findings[0].Defect != crd.ConversionWebhookUnreachable {
		t.Errorf("unreachable: %+v, with %d writes", report, k.Writes())
	}
	must(t, l.client.Resource(resourceOf(live, "v1")).Namespace("default").Delete(t.Context(), "first", metav1.DeleteOptions{}))
	must(t, actor.ProbeConversion(l.bounded(), live)) // nothing to convert, and no Service to check
}

func TestAWebhookWithoutEndpointsIsFoundWithoutObjects(t *testing.T) {
	t.Parallel()
	l := newLane(t)
	conversion, _ := webhook(t)
	conversion.Webhook.ClientConfig.URL = nil
	conversion.Webhook.ClientConfig.Service = &apiextensionsv1.ServiceReference{Namespace: "default", Name: "absent"}
	live := l.define(t, l.converted(conversion))
	if err := l.actor(&apiserver.Killer{}).ProbeConversion(l.bounded(), live); !errors.Is(err, crd.ErrConversionUnavailable) {
		t.Errorf("ProbeConversion() = %v", err)
	}
}

func TestARefusedCRDIsFoundByADryRun(t *testing.T) {
	t.Parallel()
	l, live := widened(t)
	k := &apiserver.Killer{}
	invalid := l.crd("Widget", version("v1", properties{"a": {Type: "unknown"}}))
	for situation, change := range map[string]crd.Change{
		"a changed CRD": {Old: live, New: invalid},
		"a new CRD":     {New: l.crd("Other", version("v1", properties{"a": {Type: "unknown"}}))},
	} {
		found, err := l.actor(k).DryRun(l.bounded(), change)
		must(t, err)
		if len(found) != 1 || found[0].Reason != crd.ChangeRefused || !strings.Contains(found[0].Message, "unknown") {
			t.Errorf("%s: %+v", situation, found)
		}
		report, err := l.actor(k).Judge(l.bounded(), change.New)
		must(t, err)
		if !report.Blocks() {
			t.Errorf("%s: %+v", situation, report)
		}
	}
	found, err := l.actor(k).DryRun(l.bounded(), crd.Change{Old: live, New: l.changes[0].New})
	must(t, err)
	if len(found) != 0 || k.Writes() != 0 {
		t.Errorf("a CRD that is accepted: %+v, with %d writes", found, k.Writes())
	}
}

// TestARollbackKeepsTheCAOfToday injects a CA as cert-manager and as a controller of its own do,
// and issues another one after the CRD was saved.
func TestARollbackKeepsTheCAOfToday(t *testing.T) {
	t.Parallel()
	const annotation = "cert-manager.io/inject-ca-from"
	for situation, tt := range map[string]struct {
		annotated bool   // cert-manager injects
		manager   string // who issues the first CA
		want      string // CA after the rollback
	}{
		"injected by an annotation":  {annotated: true, manager: "helm", want: "second"},
		"injected by its controller": {manager: "controller", want: "second"},
		"of the chart":               {manager: "helm", want: "first"},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			l := newLane(t)
			first, _ := webhook(t)
			second := first.DeepCopy()
			second.Webhook.ClientConfig.CABundle = append(slices.Clone(first.Webhook.ClientConfig.CABundle), "# second\n"...)
			old := l.converted(first.DeepCopy())
			if tt.annotated {
				old.Annotations = map[string]string{annotation: "default/ca"}
			}
			if tt.manager == "controller" {
				old.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
			}
			l.define(t, old)
			inject := func(conversion *apiextensionsv1.CustomResourceConversion) {
				patch := fmt.Sprintf(`{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":%q}}}}}`, base64Of(conversion.Webhook.ClientConfig.CABundle))
				_, err := l.client.Resource(definitions).Patch(t.Context(), old.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "controller"})
				must(t, err)
			}
			if tt.manager == "controller" {
				inject(first)
			}
			to := l.converted(first.DeepCopy())
			to.Spec.Conversion.Webhook.ClientConfig.CABundle = []byte("\n") // the placeholder of many charts
			to.Annotations = old.Annotations
			to.Spec.Versions[1].Schema.OpenAPIV3Schema.Properties["spec"].Properties["b"] = text
			l.t = t
			l.save(to)
			inject(second)
			current := func() string {
				return string(l.definition(t.Context(), t, old.Name).Spec.Conversion.Webhook.ClientConfig.CABundle)
			}
			l.clean(l.expand())
			if current() != string(second.Webhook.ClientConfig.CABundle) {
				t.Errorf("after the upgrade the CA is %q", current())
			}
			l.clean(l.restore())
			if got := strings.HasSuffix(current(), "# second\n"); got != (tt.want == "second") {
				t.Errorf("after the rollback the CA is %q", current())
			}
		})
	}
}
