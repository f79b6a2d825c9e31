package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// approved is everything that the user approves, and nothing else. Estimates, reasons, findings,
// times, the order of nodes, the list of workers and the rollback policy are not in it: a plan does
// not need approval again because a leader moved or a worker joined. The order of the fields and
// their names are a part of the hash's definition.
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
	Backup       *approvedBackup        `json:"backup,omitempty"`     // since format 2
	Components   []approvedComponent    `json:"components,omitempty"` // since format 3
	Window       string                 `json:"window,omitempty"`     // since format 4
}

// approvedComponent is the change of a component. Its digest covers chart, values and recipe, and
// what they change as far as that is known.
type approvedComponent struct {
	Name   string                        `json:"name"`
	Action refitv1alpha1.ComponentAction `json:"action"`
	From   string                        `json:"from,omitempty"`
	To     string                        `json:"to,omitempty"`
	Hop    int                           `json:"hop"`
	Before bool                          `json:"before,omitempty"`
	Digest string                        `json:"digest"`
}

type approvedBackup struct {
	Store  string              `json:"store"`
	Drill  refitv1alpha1.Drill `json:"drill"`
	MaxAge string              `json:"maxAge"`
}

type approvedHop struct {
	Kubernetes string `json:"kubernetes"`
	Release    string `json:"release,omitempty"` // its digest
}

type approvedStage struct {
	Name refitv1alpha1.StageName `json:"name"`
	Hop  int                     `json:"hop"`
}

// hash is the plan's hash. Its JSON is canonical: structs keep their order, and Go sorts map keys.
func hash(p *Plan, controlPlane []*cluster.Node) string {
	a := approved{
		Format: 1, Scope: p.spec.Scope, NodeSelector: p.spec.NodeSelector, From: p.From,
		Pools: p.spec.Pools, Waivers: slices.Clone(p.spec.Waivers), ControlPlane: []string{},
	}
	backedUp := slices.ContainsFunc(p.Stages, func(s Stage) bool { return s.Name == refitv1alpha1.StageBackup })
	if b := p.spec.Backup; backedUp {
		a.Format, a.Backup = 2, &approvedBackup{Store: b.Store, Drill: b.Drill, MaxAge: b.MaxAge.Duration.String()}
	}
	for i := range p.components {
		c := &p.components[i]
		a.Format = 3
		a.Components = append(a.Components, approvedComponent{c.Component, c.Action, c.From, c.To, c.Hop, c.Before, c.Digest})
	}
	if p.spec.Window != "" {
		a.Format, a.Window = 4, p.spec.Window
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
		panic(err) // a bug: strings, numbers and lists always marshal
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func compareWaivers(a, b refitv1alpha1.Waiver) int {
	return cmp.Or(cmp.Compare(a.Check, b.Check), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
}
