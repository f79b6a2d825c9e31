package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// approved is what a person approves, and all of it. It changes when what was approved changes, and not because a leader moved or a worker joined:
// estimates, reasons, findings, times, the order of nodes, the list of workers and what becomes of a node that fails are not in it.
// The order of the fields and their names are a part of the hash's definition.
type approved struct {
	Format       int                    `json:"format"`
	Scope        refitv1alpha1.Scope    `json:"scope"`
	NodeSelector map[string]string      `json:"nodeSelector,omitempty"`
	From         string                 `json:"from"`
	Hops         []approvedHop          `json:"hops"`
	Stages       []approvedStage        `json:"stages"`
	Pools        []refitv1alpha1.Pool   `json:"pools"`
	Waivers      []refitv1alpha1.Waiver `json:"waivers,omitempty"`
	ControlPlane []string               `json:"controlPlane"`
}

type approvedHop struct {
	Kubernetes string `json:"kubernetes"`
	Release    string `json:"release,omitempty"` // its digest
}

type approvedStage struct {
	Name refitv1alpha1.StageName `json:"name"`
	Hop  int                     `json:"hop"`
}

// hash is the plan's hash, of JSON that is canonical because structs keep their order and Go sorts a map's keys.
func hash(p *Plan, controlPlane []*cluster.Node) string {
	a := approved{
		Format: 1, Scope: p.spec.Scope, NodeSelector: p.spec.NodeSelector, From: p.From,
		Pools: p.spec.Pools, Waivers: slices.Clone(p.spec.Waivers), ControlPlane: []string{},
	}
	slices.SortFunc(a.Waivers, compareWaivers)
	for _, hop := range p.Hops {
		h := approvedHop{Kubernetes: hop.Kubernetes}
		if hop.Release != nil {
			h.Release = hop.Release.Digest
		}
		a.Hops = append(a.Hops, h)
	}
	for _, stage := range p.Stages {
		a.Stages = append(a.Stages, approvedStage{Name: stage.Name, Hop: stage.Hop})
	}
	for _, n := range controlPlane {
		a.ControlPlane = append(a.ControlPlane, n.Name)
	}
	slices.Sort(a.ControlPlane)
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // strings, numbers and lists of them: only a programmer can make this fail
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
