package charts

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

var archive = []byte("a packed chart")

func TestStoredChartIsRead(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	for range 2 { // the second time it is there already
		if err := Put(t.Context(), c, archive); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Get(t.Context(), c, Identify(archive))
	if err != nil || !bytes.Equal(got, archive) {
		t.Errorf("%q, %v", got, err)
	}
	var list corev1.ConfigMapList
	if err := c.List(t.Context(), &list, client.HasLabels{Label}); err != nil || len(list.Items) != 1 {
		t.Fatalf("%v, %v", list.Items, err)
	}
	stored := list.Items[0]
	if stored.Namespace != "refit-components" || stored.Immutable == nil || !*stored.Immutable || len(stored.Name) != len("refit-chart-")+40 {
		t.Errorf("%+v", stored)
	}
}

func TestConfigMapWithOtherContent(t *testing.T) {
	for situation, change := range map[string]func(m *corev1.ConfigMap){
		"another chart":  func(m *corev1.ConfigMap) { m.BinaryData[Key] = []byte("another chart!") },
		"a longer chart": func(m *corev1.ConfigMap) { m.BinaryData[Key] = append(bytes.Clone(archive), 0) },
		"no chart":       func(m *corev1.ConfigMap) { m.BinaryData = nil },
		"text":           func(m *corev1.ConfigMap) { m.BinaryData, m.Data = nil, map[string]string{Key: string(archive)} },
	} {
		t.Run(situation, func(t *testing.T) {
			m, err := ConfigMap(archive)
			if err != nil {
				t.Fatal(err)
			}
			change(m)
			c := fake.NewClientBuilder().WithObjects(m).Build()
			if _, err := Get(t.Context(), c, Identify(archive)); !errors.Is(err, ErrOther) {
				t.Errorf("read: %v", err)
			}
			if err := Put(t.Context(), c, archive); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "kubectl delete configmap") {
				t.Errorf("stored: %v", err)
			}
		})
	}
}

func TestChartsThatCannotBeRead(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	if err := Put(t.Context(), c, archive); err != nil {
		t.Fatal(err)
	}
	chart := Identify(archive)
	for situation, of := range map[string]struct {
		chart refitv1alpha1.ComponentChart
		want  error
	}{
		"another size":    {refitv1alpha1.ComponentChart{Digest: chart.Digest, Size: chart.Size + 1}, ErrOther},
		"the name agrees": {refitv1alpha1.ComponentChart{Digest: chart.Digest[:70] + "x", Size: chart.Size}, ErrOther},
		"missing":         {Identify([]byte("missing")), ErrMissing},
		"no digest":       {refitv1alpha1.ComponentChart{}, ErrMissing},
	} {
		if _, err := Get(t.Context(), c, of.chart); !errors.Is(err, of.want) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

func TestChartsThatCannotBeStored(t *testing.T) {
	for situation, content := range map[string][]byte{"empty": nil, "too large": make([]byte, artifact.MaxChart+1)} {
		if err := Put(t.Context(), fake.NewClientBuilder().Build(), content); err == nil || !strings.Contains(err.Error(), "between 1 and 921600") {
			t.Errorf("%s: %v", situation, err)
		}
	}
	denied := errors.New("denied")
	for situation, c := range map[string]struct{ answer, want error }{
		"no namespace": {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, Namespace), ErrNoNamespace},
		"denied":       {denied, denied},
	} {
		failing := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return c.answer },
		}).Build()
		if err := Put(t.Context(), failing, archive); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}
