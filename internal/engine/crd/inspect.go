package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Judge judges the change from the live CRD to a new definition: definitions, dry run, conversion
// webhook and all live objects. The webhook is that of the live CRD: whether that of the new one
// responds is unknown until it runs, and ProbeConversion finds it out then.
func (a *Actor) Judge(ctx context.Context, definition *Definition) (*Report, error) {
	live, err := a.live(ctx, definition.Name)
	if err != nil {
		return nil, err
	}
	change := Change{Old: live, New: definition}
	report := &Report{}
	if live != nil {
		if report, err = a.judge(ctx, change); err != nil {
			return nil, err
		}
	}
	if refusesChange(report) {
		return report, nil
	}
	found, err := a.DryRun(ctx, change)
	if err != nil {
		return nil, err
	}
	report.add(found...)
	return report, nil
}

// judge judges a change whose Old is live. Objects that cannot be converted are not judged.
func (a *Actor) judge(ctx context.Context, change Change) (*Report, error) {
	objects := a.Objects(ctx, change.Old, VersionsToRead(change)...)
	unavailable := a.ProbeConversion(ctx, change.Old)
	if unavailable != nil && !errors.Is(unavailable, ErrConversionUnavailable) {
		return nil, unavailable
	}
	if unavailable != nil {
		objects = a.Objects(ctx, change.Old)
	}
	report, err := Judge(ctx, change, nil, objects)
	if err == nil && unavailable != nil {
		report.add(unreachableBecause(unavailable))
	}
	return report, err
}

// DryRun has the API server check the writes of a change without making them, and returns why it
// refuses them. Old is live, or nil if the CRD does not exist.
func (a *Actor) DryRun(ctx context.Context, change Change) ([]Finding, error) {
	var err error
	if change.Old == nil {
		_, err = a.definitions.Create(ctx, created(change.New), metav1.CreateOptions{FieldManager: a.manager, DryRun: []string{metav1.DryRunAll}})
	} else {
		applied, _ := Expand(change)
		for _, definition := range []*Definition{applied, change.New} {
			if _, err = a.dryUpdate(ctx, merged(change.Old, definition)); err != nil {
				break
			}
		}
	}
	switch {
	case err == nil:
		return nil, nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return []Finding{refusedChange(DefinitionInvalid, "", "the API server refuses the CRD: %v", err)}, nil
	default:
		return nil, fmt.Errorf("cannot check the CRD %s by a dry run: %w", change.New.Name, err)
	}
}

func (a *Actor) dryUpdate(ctx context.Context, desired *Definition) (*Definition, error) {
	return a.definitions.Update(ctx, desired, metav1.UpdateOptions{FieldManager: a.manager, DryRun: []string{metav1.DryRunAll}})
}

// ProbeConversion returns an error if the API server cannot convert objects of a live CRD with its
// webhook. Only the API server's own requests matter, so it gets one object in each version: all
// but one need a conversion. A list would prove nothing, since it comes from a cache. Without
// objects, the Service of the webhook must have an endpoint.
func (a *Actor) ProbeConversion(ctx context.Context, live *Definition) error {
	if !usesWebhook(live) || len(live.Spec.Versions) < 2 {
		return nil
	}
	var object *metav1.PartialObjectMetadata
	for i := range live.Spec.Versions {
		version := &live.Spec.Versions[i]
		if !version.Served || object != nil {
			continue
		}
		list, err := a.metadata.Resource(resourceOf(live, version.Name)).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return unconvertible(err, live, version.Name)
		}
		if len(list.Items) > 0 {
			object = &list.Items[0]
		}
	}
	if object != nil {
		return a.convertible(ctx, live, object)
	}
	if config := clientConfigOf(live); config != nil && config.Service != nil {
		return a.endpoint(ctx, config.Service)
	}
	return nil
}

// convertible returns why an object cannot be read in all versions. One that is deleted can.
func (a *Actor) convertible(ctx context.Context, live *Definition, object *metav1.PartialObjectMetadata) error {
	for i := range live.Spec.Versions {
		version := &live.Spec.Versions[i]
		if !version.Served {
			continue
		}
		_, err := a.metadata.Resource(resourceOf(live, version.Name)).Namespace(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return unconvertible(err, live, version.Name)
		}
	}
	return nil
}

func unconvertible(err error, live *Definition, version string) error {
	if strings.Contains(err.Error(), "conversion webhook") {
		return fmt.Errorf("%w: %w", ErrConversionUnavailable, err)
	}
	return fmt.Errorf("cannot read the objects of %s in version %s: %w", live.Name, version, err)
}

// endpoint returns an error if a Service has no ready endpoint.
func (a *Actor) endpoint(ctx context.Context, service *apiextensionsv1.ServiceReference) error {
	slicesOf := metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service.Name}
	list, err := a.core.DiscoveryV1().EndpointSlices(service.Namespace).List(ctx, slicesOf)
	if err != nil {
		return fmt.Errorf("cannot read the endpoints of the Service %s/%s: %w", service.Namespace, service.Name, err)
	}
	for i := range list.Items {
		if slices.ContainsFunc(list.Items[i].Endpoints, ready) {
			return nil
		}
	}
	return fmt.Errorf("%w: the Service %s/%s has no ready endpoint", ErrConversionUnavailable, service.Namespace, service.Name)
}

func ready(endpoint discoveryv1.Endpoint) bool {
	return endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready
}
