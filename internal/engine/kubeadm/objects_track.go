package kubeadm

import (
	"context"
	"errors"

	"k8s.io/client-go/kubernetes"
)

// TrackObjects runs a phase that writes objects of the cluster, and records in dir what was there
// before and what the phase wrote. The record is opened before the phase and closed after it, also
// when it fails; a kill in between leaves it open, and the next run continues it.
func TrackObjects(ctx context.Context, client kubernetes.Interface, dir, phase string, run func() error) error {
	records, err := loadObjects(dir)
	if err != nil {
		return err
	}
	for _, resource := range phaseObjects[phase] {
		r := records.of(resource)
		if r.Open {
			continue
		}
		now, err := fetch(ctx, client, resource)
		if err != nil {
			return apiFailure(err, "cannot save %s", resource)
		}
		if r.After == nil {
			r.Before = now.content
		}
		r.Open = true
	}
	if err := records.store(); err != nil {
		return err
	}
	failed := run()
	if failed == nil && phase == PhaseAddon {
		failed = records.keepAffinity(ctx, client)
	}
	if err := records.end(ctx, client, phase); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

func (r *objectRecords) end(ctx context.Context, client kubernetes.Interface, phase string) error {
	for _, resource := range phaseObjects[phase] {
		now, err := fetch(ctx, client, resource)
		if err != nil {
			return apiFailure(err, "cannot record %s", resource)
		}
		record := r.of(resource)
		record.After, record.Open = now.content, false
	}
	return r.store()
}
