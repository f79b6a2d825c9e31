package crd

import (
	"context"
	"errors"
	"fmt"
	"maps"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationCreated marks a CRD that an upgrade has created: only such a one is deleted by a
	// rollback.
	AnnotationCreated = "refit.dev/created"

	// A CRD with this annotation is never deleted by Helm.
	annotationPolicy = "helm.sh/resource-policy"
	policyKeep       = "keep"
)

// Expand makes the first write of each change, as the function Expand returns it, and returns when
// all API servers serve the CRDs. The Old of a change is the saved CRD; a change without it creates
// the CRD. If somebody else has changed a CRD since, it returns a ChangedError.
//
// It replaces the spec as a whole, because an apply would keep the fields of other managers, and
// keeps labels and annotations that the new definition lacks.
func (a *Actor) Expand(ctx context.Context, changes []Change) ([]Decision, error) {
	decisions := make([]Decision, 0, len(changes))
	for _, change := range changes {
		decision, err := a.expand(ctx, change)
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, decision)
	}
	return decisions, a.serve(ctx, namesOf(changes)...)
}

func (a *Actor) expand(ctx context.Context, change Change) (Decision, error) {
	if change.Old == nil {
		storage := StorageVersion(change.New)
		return Decision{Mode: SameStorage, To: storage, Message: "the CRD is new"}, a.create(ctx, change.New)
	}
	desired, decision := Expand(change)
	return decision, a.update(ctx, change.New.Name, func(live *Definition) (*Definition, error) {
		if err := sameIdentity(change, live); err != nil {
			return nil, err
		}
		if !equalSpecs(live, change.Old) {
			return nil, a.mustBe(ctx, live, desired)
		}
		return changed(live, merged(live, desired)), nil
	})
}

// create creates a CRD, unless an earlier try has done it.
func (a *Actor) create(ctx context.Context, definition *Definition) error {
	live, err := a.live(ctx, definition.Name)
	switch {
	case err != nil:
		return err
	case live == nil:
		_, err := a.definitions.Create(ctx, created(definition), metav1.CreateOptions{FieldManager: a.manager})
		return wrap(err, "cannot create the CRD %s", definition.Name)
	case live.DeletionTimestamp != nil || live.Annotations[AnnotationCreated] == "":
		return &ChangedError{Name: definition.Name, Cause: "somebody else has created or deleted it"}
	}
	return a.mustBe(ctx, live, definition)
}

// mustBe returns a ChangedError if the live CRD is not what an earlier try has written. The API
// server drops fields that it does not know, so a dry run decides.
func (a *Actor) mustBe(ctx context.Context, live, desired *Definition) error {
	want := merged(live, desired)
	if equalSpecs(live, want) {
		return nil
	}
	stored, err := a.dryUpdate(ctx, want)
	switch {
	case apierrors.IsInvalid(err): // it cannot have been written
	case err != nil:
		return fmt.Errorf("cannot compare the CRD %s: %w", live.Name, err)
	case equalSpecs(live, stored):
		return nil
	}
	return &ChangedError{Name: live.Name, Cause: "somebody else has changed it"}
}

// sameIdentity returns a ChangedError if a CRD is not the saved one any more.
func sameIdentity(change Change, live *Definition) error {
	var cause string
	switch {
	case live == nil || live.DeletionTimestamp != nil:
		cause = "somebody else has deleted it"
	case change.Old != nil && change.Old.UID != "" && change.Old.UID != live.UID:
		cause = "somebody else has deleted and recreated it"
	default:
		return nil
	}
	return &ChangedError{Name: change.New.Name, Cause: cause}
}

// created returns a definition to create.
func created(definition *Definition) *Definition {
	c := &Definition{ObjectMeta: metav1.ObjectMeta{Name: definition.Name, Labels: definition.Labels}, Spec: definition.Spec}
	c.Annotations = maps.Clone(definition.Annotations)
	c = c.DeepCopy()
	setAnnotation(c, annotationPolicy, policyKeep)
	setAnnotation(c, AnnotationCreated, "true")
	keepCA(c, c)
	return c
}

// merged returns the live CRD with the spec, labels and annotations of another definition.
func merged(live, desired *Definition) *Definition {
	r := live.DeepCopy()
	r.Spec = *desired.Spec.DeepCopy()
	for name, value := range desired.Annotations {
		setAnnotation(r, name, value)
	}
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	maps.Copy(r.Labels, desired.Labels)
	setAnnotation(r, annotationPolicy, policyKeep)
	keepCA(r, live)
	return r
}

// changed returns a definition to write, or nil if it is the live one.
func changed(live, desired *Definition) *Definition {
	if apiequality.Semantic.DeepEqual(live.ObjectMeta, desired.ObjectMeta) && equalSpecs(live, desired) &&
		apiequality.Semantic.DeepEqual(clientConfigOf(live), clientConfigOf(desired)) {
		return nil
	}
	return desired
}

func setAnnotation(crd *Definition, name, value string) {
	if crd.Annotations == nil {
		crd.Annotations = map[string]string{}
	}
	crd.Annotations[name] = value
}

func namesOf(changes []Change) []string {
	names := make([]string, 0, len(changes))
	for _, change := range changes {
		names = append(names, change.New.Name)
	}
	return names
}

var errNotServed = errors.New("the API server does not serve the CRD")
