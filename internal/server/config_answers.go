package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

const (
	// noAnswers is the ETag if nobody has saved a form yet.
	noAnswers = `"none"`
	// maxValues bounds what is written of one form: an answer can become several values.
	maxValues = 256 << 10
	// maxSources is the limit of valuesFrom in the API.
	maxSources = 4
)

// storedAnswers are the Secret with the answers and the values of all components.
type storedAnswers struct {
	form.Stored

	secret corev1.Secret
}

// etag identifies the content of the Secret.
func (a *storedAnswers) etag() string {
	if a.secret.ResourceVersion == "" {
		return noAnswers
	}
	return fmt.Sprintf(`"%s.%s"`, a.secret.UID, a.secret.ResourceVersion)
}

// answers reads the Secret with the credentials of the caller.
func (f *openedForm) answers(ctx context.Context) (*storedAnswers, error) {
	out := &storedAnswers{}
	err := f.client.Get(ctx, client.ObjectKey{Namespace: cluster.ComponentsNamespace, Name: form.SecretName}, &out.secret)
	switch {
	case apierrors.IsNotFound(err):
		out.secret = corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster.ComponentsNamespace, Name: form.SecretName, Labels: map[string]string{form.OwnerLabel: form.Owner},
		}}
		return out, nil
	case err != nil:
		return nil, asEditor(err)
	}
	if out.Stored, err = form.Decode(out.secret.Data[form.AnswersKey]); err != nil {
		return nil, problem.Newf(http.StatusConflict, problem.Conflict, "The key %s of the Secret %s/%s has no answers.",
			form.AnswersKey, cluster.ComponentsNamespace, form.SecretName).With("Delete the key, and fill in the form again")
	}
	return out, nil
}

// write is what a save writes.
type write struct {
	stored form.Stored
	data   map[string][]byte
}

// encode returns what saves a result. Values of components that the form does not have any more
// become empty, so that no Component refers to a missing key.
func (f *openedForm) encode(a *storedAnswers, result *form.Result) (*write, error) {
	stored := form.Store(f.form, result.Given)
	stored.Release, stored.Digest = f.name, f.digest
	answers, err := stored.Encode()
	if err != nil {
		return nil, errors.New("cannot encode the answers") // the cause could quote them
	}
	data, size := map[string][]byte{form.AnswersKey: answers}, len(answers)
	for key := range a.secret.Data {
		if strings.HasSuffix(key, form.ValuesKey("")) {
			data[key] = []byte("{}\n")
		}
	}
	for component, values := range form.Values(f.form, result.Answers) {
		text, err := yaml.Marshal(values)
		if err != nil {
			return nil, errors.New("cannot encode the values of " + component)
		}
		data[form.ValuesKey(component)] = text
		size += len(text)
	}
	if size > maxValues {
		return nil, problem.Newf(http.StatusUnprocessableEntity, problem.Invalid, "The answers have more than %d KiB in total.", maxValues>>10)
	}
	return &write{stored, data}, nil
}

// has reports whether the Secret has everything that a save would write.
func (a *storedAnswers) has(w *write) bool { return maps.EqualFunc(a.secret.Data, w.data, bytes.Equal) }

// save writes the answers and the values of all components at once.
func (f *openedForm) save(ctx context.Context, a *storedAnswers, w *write) (*storedAnswers, error) {
	out := &storedAnswers{Stored: w.stored, secret: *a.secret.DeepCopy()}
	if a.has(w) {
		return out, nil
	}
	out.secret.Data = w.data
	metav1.SetMetaDataLabel(&out.secret.ObjectMeta, form.OwnerLabel, form.Owner)
	var err error
	if a.secret.ResourceVersion == "" {
		err = f.client.Create(ctx, &out.secret)
	} else {
		err = f.client.Update(ctx, &out.secret) // fails if somebody else has changed it
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return nil, answersChanged()
	case apierrors.IsInvalid(err): // the cause could quote an answer
		return nil, problem.New(http.StatusUnprocessableEntity, problem.Invalid, "The API server does not accept the Secret with the answers.")
	case err != nil && a.secret.ResourceVersion == "" && apierrors.IsForbidden(err):
		return nil, problem.Newf(http.StatusForbidden, problem.Forbidden,
			"The Secret %s/%s does not exist, and you may not create it.", cluster.ComponentsNamespace, form.SecretName).
			With("Run `refit install --components`: refit-components creates the Secret. Then save the form again")
	}
	return out, asEditor(err)
}

// refer makes the Component of each component of the form refer to its values.
func (f *openedForm) refer(ctx context.Context) error {
	for _, component := range f.components() {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error { return f.referOf(ctx, component) })
		if err != nil {
			return asEditor(err)
		}
	}
	return nil
}

func (f *openedForm) referOf(ctx context.Context, name string) error {
	wanted := refitv1alpha1.ValuesSource{Secret: form.SecretName, Key: form.ValuesKey(name)}
	c := &refitv1alpha1.Component{}
	err := f.client.Get(ctx, client.ObjectKey{Name: name}, c)
	if apierrors.IsNotFound(err) {
		c = &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.ValuesFrom = []refitv1alpha1.ValuesSource{wanted}
		if err = f.client.Create(ctx, c); !apierrors.IsAlreadyExists(err) {
			return err
		}
		err = f.client.Get(ctx, client.ObjectKey{Name: name}, c) // refit-components was first
	}
	switch {
	case err != nil:
		return err
	case slices.Contains(c.Spec.ValuesFrom, wanted):
		return nil
	case len(c.Spec.ValuesFrom) >= maxSources:
		return problem.Newf(http.StatusConflict, problem.Conflict, "Component %s has values from %d Secrets, and no more are permitted.", name, maxSources).
			With("Merge the Secrets in spec.valuesFrom of the Component, then save the form again")
	}
	patch := client.MergeFromWithOptions(c.DeepCopy(), client.MergeFromWithOptimisticLock{})
	c.Spec.ValuesFrom = append(c.Spec.ValuesFrom, wanted)
	return f.client.Patch(ctx, c, patch)
}

// pending returns the components that do not use the answers.
func (f *openedForm) pending(ctx context.Context, a *storedAnswers) ([]string, error) {
	out := []string{}
	if len(a.secret.Data[form.AnswersKey]) == 0 { // nobody has answered
		return out, nil
	}
	for _, name := range f.components() {
		c := &refitv1alpha1.Component{}
		err := f.client.Get(ctx, client.ObjectKey{Name: name}, c)
		if client.IgnoreNotFound(err) != nil {
			return nil, asEditor(err)
		}
		key := form.ValuesKey(name)
		if len(a.secret.Data[key]) == 0 || !slices.Contains(c.Spec.ValuesFrom, refitv1alpha1.ValuesSource{Secret: form.SecretName, Key: key}) {
			out = append(out, name)
		}
	}
	return out, nil
}

// components are those that the form sets values of, sorted.
func (f *openedForm) components() []string {
	return slices.Sorted(maps.Keys(form.Values(f.form, nil)))
}

// asEditor names the role for a permission that the caller lacks.
func asEditor(err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	status := apierrors.APIStatus(nil)
	errors.As(err, &status)
	return problem.New(http.StatusForbidden, problem.Forbidden, status.Status().Message).
		With("Ask an administrator for the ClusterRole refit-component-editor, which permits to fill in the form")
}
