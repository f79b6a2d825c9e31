package kubeadm

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// RestoreObjects restores objects that a phase wrote, if they are unchanged since and no other node
// relies on them. It returns the objects that stay, each with the reason. It does not touch an
// object that the phase created or that was deleted since.
func RestoreObjects(ctx context.Context, client kubernetes.Interface, dir, phase string, relying []string) (kept []string, err error) {
	records, err := loadObjects(dir)
	if err != nil {
		return nil, err
	}
	stays := map[object]bool{}
	for _, resource := range phaseObjects[phase] {
		if stays[follows[resource]] {
			continue
		}
		reason, err := records.of(resource).restore(ctx, client, relying)
		if err != nil {
			return nil, apiFailure(err, "cannot restore %s", resource)
		}
		if reason != "" {
			stays[resource] = true
			kept = append(kept, resource.String()+": "+reason)
		}
	}
	if len(records.Objects) == 0 {
		return kept, nil
	}
	return kept, records.store()
}

// ReviewObjects lists the objects that RestoreObjects would restore, and those that it would leave,
// with the reason.
func ReviewObjects(ctx context.Context, client kubernetes.Interface, dir, phase string, relying []string) (restored, kept []string, err error) {
	records, err := loadObjects(dir)
	if err != nil {
		return nil, nil, err
	}
	stays := map[object]bool{}
	for _, resource := range phaseObjects[phase] {
		if stays[follows[resource]] {
			continue
		}
		now, err := fetch(ctx, client, resource)
		if err != nil {
			return nil, nil, apiFailure(err, "cannot read %s", resource)
		}
		restores, reason := records.of(resource).decide(now.content, relying)
		switch {
		case reason != "":
			stays[resource] = true
			kept = append(kept, resource.String()+": "+reason)
		case restores:
			restored = append(restored, resource.String())
		}
	}
	return restored, kept, nil
}

// decide reports whether an object is restored, or why it stays although it differs from what it
// was.
func (r *objectRecord) decide(now *content, relying []string) (restores bool, reason string) {
	written, foreign := r.written(now)
	switch {
	case foreign:
		return false, "it was changed since the operation wrote it"
	case written && len(relying) > 0:
		return false, "other nodes rely on it: " + Some(relying)
	}
	return written, ""
}

func (r *objectRecord) restore(ctx context.Context, client kubernetes.Interface, relying []string) (kept string, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := fetch(ctx, client, r.object)
		if err != nil {
			return err
		}
		restores, reason := r.decide(now.content, relying)
		kept = reason
		if !restores {
			return nil
		}
		return now.restore(ctx, r.Before)
	})
	if err == nil && kept == "" && (r.Open || r.After != nil) {
		r.After, r.Open = r.Before, false // A change from here on is not the operation's.
	}
	return kept, err
}

// Some names a few of a list that may be long.
func Some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
