package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/check"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// opened is a form that sets a value of two components, with these objects in the cluster.
func opened(t *testing.T, failing interceptor.Funcs, objects ...client.Object) (*openedForm, client.Client) {
	t.Helper()
	sets := func(component, path string) []refitv1alpha1.FormTarget {
		return []refitv1alpha1.FormTarget{{Component: component, Path: path}}
	}
	f := &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{{Name: "general", Title: "General", Items: []refitv1alpha1.FormItem{
		{Name: "host", Title: "Host", Type: refitv1alpha1.FormText, Sets: sets("web", "ingress.host")},
		{Name: "password", Title: "Password", Type: refitv1alpha1.FormPassword, Sets: sets("db", "password")},
	}}}}
	compiled, err := check.CompileForm(f)
	if err != nil {
		t.Fatal(err)
	}
	objectsOf := operationstest.NewClient(t, objects...)
	return &openedForm{name: "v1", digest: "sha256:1", form: f, compiled: compiled, client: interceptor.NewClient(objectsOf, failing)}, objectsOf
}

// put saves answers as PutConfig does.
func put(t *testing.T, f *openedForm, answers form.Answers) error {
	t.Helper()
	stored, err := f.answers(t.Context())
	if err != nil {
		return err
	}
	result, err := form.Evaluate(t.Context(), f.form, stored.Complete(f.form, answers), f.compiled.Evaluation())
	if err != nil || len(result.Problems) > 0 {
		t.Fatalf("%v %+v", err, result)
	}
	wanted, err := f.encode(stored, result)
	if err != nil {
		return err
	}
	if _, err := f.save(t.Context(), stored, wanted); err != nil {
		return err
	}
	return f.refer(t.Context())
}

func secretOf(t *testing.T, c client.Client) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: cluster.ComponentsNamespace, Name: form.SecretName}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

func emptySecret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.ComponentsNamespace, Name: form.SecretName}}
}

func pendingOf(t *testing.T, f *openedForm) string {
	t.Helper()
	stored, err := f.answers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pending, err := f.pending(t.Context(), stored)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(pending, " ")
}

func TestAnswersAreSaved(t *testing.T) {
	own := refitv1alpha1.ValuesSource{Secret: "own"}
	web := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	web.Spec.ValuesFrom = []refitv1alpha1.ValuesSource{own}
	f, c := opened(t, interceptor.Funcs{}, emptySecret(), web)
	if err := put(t, f, form.Answers{"host": "a.test", "password": "s3cret"}); err != nil {
		t.Fatal(err)
	}
	first := secretOf(t, c)
	if string(first.Data["web.yaml"]) != "ingress:\n  host: a.test\n" || string(first.Data["db.yaml"]) != "password: s3cret\n" || first.Labels["owner"] != "refit" {
		t.Errorf("%s %v", first.Data, first.Labels)
	}
	for _, name := range []string{"web", "db"} { // Component db did not exist
		component := &refitv1alpha1.Component{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, component); err != nil {
			t.Fatal(err)
		}
		from := component.Spec.ValuesFrom
		if from[len(from)-1] != (refitv1alpha1.ValuesSource{Secret: form.SecretName, Key: name + ".yaml"}) || name == "web" && from[0] != own {
			t.Errorf("%s has %v", name, from)
		}
	}
	if err := put(t, f, form.Answers{"host": "a.test"}); err != nil || secretOf(t, c).ResourceVersion != first.ResourceVersion {
		t.Errorf("the same answers are written again: %v", err)
	}
	if err := put(t, f, form.Answers{"host": "b.test"}); err != nil || string(secretOf(t, c).Data["db.yaml"]) != "password: s3cret\n" {
		t.Errorf("the password is gone: %v", err)
	}
	if err := put(t, f, form.Answers{"host": "b.test", "password": nil}); err != nil || string(secretOf(t, c).Data["db.yaml"]) != "{}\n" {
		t.Errorf("the password stays: %v", err)
	}
	if got := pendingOf(t, f); got != "" {
		t.Errorf("%s is pending", got)
	}
	f.form.Groups[0].Items = f.form.Groups[0].Items[1:] // the next ClusterRelease does not ask for the host
	if err := put(t, f, nil); err != nil || string(secretOf(t, c).Data["web.yaml"]) != "{}\n" {
		t.Errorf("the values of a component without items: %v", err)
	}
}

// TestAnInterruptedSaveIsCompleted: the process is killed, or a permission is missing, between the
// writes.
func TestAnInterruptedSaveIsCompleted(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "refit.dev", Resource: "components"}, "web", errors.New("it requires the verb approve"))
	broken := true
	f, c := opened(t, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if _, is := o.(*refitv1alpha1.Component); is && o.GetName() == "web" && broken {
				return forbidden
			}
			return c.Create(ctx, o, options...)
		},
	}, emptySecret())
	err := put(t, f, form.Answers{"host": "a.test", "password": "s3cret"})
	p, is := errors.AsType[*problem.Error](err)
	if !is || p.Status != http.StatusForbidden || !strings.Contains(p.Detail, "the verb approve") || !strings.Contains(p.Remedy, "refit-component-editor") {
		t.Fatal(err)
	}
	if got := pendingOf(t, f); got != "web" {
		t.Errorf("pending is %q", got)
	}
	broken = false
	if err := put(t, f, form.Answers{"host": "a.test"}); err != nil || pendingOf(t, f) != "" {
		t.Errorf("it is not completed: %v", err)
	}
	if got := secretOf(t, c).Data["db.yaml"]; string(got) != "password: s3cret\n" {
		t.Errorf("db.yaml is %s", got)
	}
}

func TestAnswersOfOthersAreNotOverwritten(t *testing.T) {
	f, c := opened(t, interceptor.Funcs{}, emptySecret())
	stored, err := f.answers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := put(t, f, form.Answers{"host": "first.test"}); err != nil {
		t.Fatal(err)
	}
	result, err := form.Evaluate(t.Context(), f.form, form.Answers{"host": "second.test"}, f.compiled.Evaluation())
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := f.encode(stored, result)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.save(t.Context(), stored, wanted)
	if p, is := errors.AsType[*problem.Error](err); !is || p.Status != http.StatusPreconditionFailed {
		t.Errorf("%v", err)
	}
	if !strings.Contains(string(secretOf(t, c).Data["web.yaml"]), "first.test") {
		t.Error("the answers of the first user are gone")
	}
}

func TestSavesThatAreRefused(t *testing.T) {
	full := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	full.Spec.ValuesFrom = []refitv1alpha1.ValuesSource{{Secret: "a"}, {Secret: "b"}, {Secret: "c"}, {Secret: "d"}}
	unreadable := emptySecret()
	unreadable.Data = map[string][]byte{form.AnswersKey: []byte("{s3cret")}
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, c := range map[string]struct {
		objects []client.Object
		failing interceptor.Funcs
		status  int
		want    string
	}{
		"values from too many Secrets": {[]client.Object{emptySecret(), full}, interceptor.Funcs{}, http.StatusConflict, "values from 4 Secrets"},
		"answers that are none":        {[]client.Object{unreadable}, interceptor.Funcs{}, http.StatusConflict, "has no answers"},
		"no permission to read": {nil, interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return apierrors.NewForbidden(secrets, form.SecretName, errors.New("no"))
			},
		}, http.StatusForbidden, `secrets "refit-form" is forbidden`},
		"no Secret": {nil, interceptor.Funcs{
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
				return apierrors.NewForbidden(secrets, "", errors.New("no"))
			},
		}, http.StatusForbidden, "does not exist, and you may not create it"},
		"a Secret that is invalid": {[]client.Object{emptySecret()}, interceptor.Funcs{
			Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
				return apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "s3cret", nil)
			},
		}, http.StatusUnprocessableEntity, "does not accept the Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := opened(t, c.failing, c.objects...)
			err := put(t, f, form.Answers{"host": "a.test", "password": "s3cret"})
			p, is := errors.AsType[*problem.Error](err)
			if !is || p.Status != c.status || !strings.Contains(p.Detail, c.want) || strings.Contains(p.Detail, "s3cret") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestTheSizeOfAForm(t *testing.T) {
	f, _ := opened(t, interceptor.Funcs{}, emptySecret())
	for i := range 8 {
		f.form.Groups[0].Items[0].Sets = append(f.form.Groups[0].Items[0].Sets, refitv1alpha1.FormTarget{Component: "web", Path: strings.Repeat("a", i+1)})
		f.form.Groups[0].Items[1].Sets = append(f.form.Groups[0].Items[1].Sets, refitv1alpha1.FormTarget{Component: "db", Path: strings.Repeat("a", i+1)})
	}
	large := strings.Repeat("x", 16<<10)
	err := put(t, f, form.Answers{"host": large, "password": large})
	if p, is := errors.AsType[*problem.Error](err); !is || p.Status != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, "256 KiB") {
		t.Errorf("%v", err)
	}
}

// TestEveryTextThatIsAcceptedIsSaved: YAML cannot have some characters, and replaces another one.
func TestEveryTextThatIsAcceptedIsSaved(t *testing.T) {
	f, c := opened(t, interceptor.Funcs{}, emptySecret())
	for _, r := range []rune{0, 1, '\t', '\n', '\r', 0x1b, ' ', '\'', '"', '<', '~', 0x7f, 0x80, 0x85, 0x9f, 0xa0, 0x2028, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1f600} {
		text := "a" + string(r) + "b"
		result, err := form.Evaluate(t.Context(), f.form, form.Answers{"password": text}, f.compiled.Evaluation())
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Problems) > 0 {
			if r >= ' ' && r < 0x7f || r == '\t' || r == '\n' || r == '\r' || r == 0x1f600 {
				t.Errorf("%U is refused: %+v", r, result.Problems)
			}
			continue
		}
		if err := put(t, f, form.Answers{"password": text}); err != nil {
			t.Errorf("%U: %v", r, err)
			continue
		}
		values := map[string]string{}
		if err := yaml.Unmarshal(secretOf(t, c).Data["db.yaml"], &values); err != nil || values["password"] != text {
			t.Errorf("%U is saved as %q, %v", r, values["password"], err)
		}
	}
}
