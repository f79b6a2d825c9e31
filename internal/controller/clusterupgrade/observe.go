package clusterupgrade

import (
	"context"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// observation is one observation of a cluster and the assessment that follows from it.
type observation struct {
	operation *refitv1alpha1.ClusterUpgrade
	snapshot  *cluster.Snapshot
	nodes     map[string]*cluster.Node
	now       time.Time

	*assess.Assessment
}

// assess observes the cluster and assesses the operation, again if the Snapshot was too old for
// what follows from it.
func (r *Reconciler) assess(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) (*observation, error) {
	if _, _, known := r.World.Age(); !known {
		if err := r.World.Read(ctx); err != nil {
			return nil, err
		}
	}
	obs, err := r.observe(operation)
	if err != nil {
		return nil, err
	}
	age := assess.SnapshotAge{Outdated: r.World.Outdated()}
	age.Age, age.Took, _ = r.World.Age()
	switch obs.Judge(age, len(operation.Status.Active) > 0) {
	case assess.Refresh:
		r.World.ReadInBackground(ctx)
	case assess.Stale:
		if err := r.World.ReadSince(ctx, age.Earliest(time.Now())); err != nil {
			return nil, err
		}
		return r.observe(operation)
	case assess.Fresh:
	}
	return obs, nil
}

func (r *Reconciler) observe(operation *refitv1alpha1.ClusterUpgrade) (*observation, error) {
	snapshot, err := r.World.Snapshot(operation)
	if err != nil {
		return nil, err
	}
	obs := &observation{
		operation: operation, snapshot: snapshot, nodes: make(map[string]*cluster.Node, len(snapshot.Nodes)), now: r.Now().UTC(),
	}
	for i := range snapshot.Nodes {
		obs.nodes[snapshot.Nodes[i].Name] = &snapshot.Nodes[i]
	}
	obs.Assessment = assess.Operation(snapshot, obs.now)
	return obs, nil
}
