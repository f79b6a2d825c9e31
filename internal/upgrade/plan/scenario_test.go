package plan

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// scenario is a cluster and an upgrade of it.
type scenario struct {
	controlPlanes, workers int
	version, workersAt     string // workersAt defaults to the control plane's version
	zones                  int
	pools                  []string // values of the label pool, given to workers in turn
	external               bool
	loads                  []load
	releases               []string
	spec                   refitv1alpha1.ClusterUpgradeSpec
	suffix                 string // of the names of nodes
	longPods               bool   // the names of pods are as long as they may be
	containerd             string // that runs on every host
	addOns                 []addOn
	window                 *refitv1alpha1.MaintenanceWindowSpec
}

// load is a Deployment. It has no budget if maxUnavailable is negative.
type load struct {
	name           string
	pods           int
	maxUnavailable int32
	anyNode        bool
}

const operationUID = "upgrade-uid"

// build makes the world of a scenario, in which everything is healthy and nothing happens.
func build(sc scenario, dice *rand.Rand) *world {
	w := &world{
		provenSince: map[string]time.Time{},
		dice:        dice, now: simulationStart, external: sc.external, vip: "cp-1" + sc.suffix, longPods: sc.longPods, plans: map[int]*Plan{}, payloads: map[string]refitv1alpha1.ReleasePayload{}, hashes: map[int]string{}, versions: map[string]skew.Version{},
		op: operation{Operation: cluster.Operation{Name: "upgrade", UID: operationUID, Generation: 1, Spec: policy.Defaulted(sc.spec), ApprovedAt: simulationStart}, version: 1},
	}
	w.addOns, w.window = sc.addOns, sc.window
	for _, version := range sc.releases {
		w.releases = append(w.releases, w.newRelease(version))
	}
	if slices.ContainsFunc(sc.addOns, func(a addOn) bool { return len(a.offers[sc.version]) > 0 }) && !slices.Contains(sc.releases, sc.version) {
		w.releases = append(w.releases, w.newRelease(sc.version)) // what is installed came with it
	}
	workersAt := sc.workersAt
	if workersAt == "" {
		workersAt = sc.version
	}
	for i := range sc.controlPlanes {
		w.join(fmt.Sprintf("cp-%d%s", i+1, sc.suffix), true, sc.version, map[string]string{})
	}
	for i := range sc.workers {
		labels := map[string]string{"zone": string(rune('a' + i%max(1, sc.zones)))}
		if len(sc.pools) > 0 {
			labels["pool"] = sc.pools[i%len(sc.pools)]
		}
		w.join(fmt.Sprintf("worker-%d%s", i+1, sc.suffix), false, workersAt, labels)
	}
	for _, l := range sc.loads {
		made := &workload{name: l.name, budget: l.maxUnavailable >= 0, maxUnavailable: l.maxUnavailable, anyNode: l.anyNode}
		made.scale(l.pods)
		w.workloads = append(w.workloads, made)
	}
	w.elect()
	w.now = w.now.Add(-time.Minute)
	for range 6 { // pods are running before the story starts
		w.runPods()
		w.now = w.now.Add(tick)
	}
	for _, m := range w.machines {
		m.containerd = sc.containerd
		m.created, m.readySince = simulationStart.AddDate(0, -6, 0), simulationStart.AddDate(0, 0, -30)
		m.writeReport(w)
	}
	w.buildComponents(sc.addOns)
	return w
}

func releaseOf(version string) cluster.Release {
	digest := sha256.Sum256([]byte(version))
	return cluster.Release{
		Name: "kubernetes-" + version, Digest: fmt.Sprintf("sha256:%x", digest), Payload: refitv1alpha1.ReleasePayload{Kubernetes: version, Etcd: etcdWith[version[:5]], Containerd: "2.1.4"},
	}
}

// etcdWith is the etcd version of a minor version.
var etcdWith = map[string]string{"v1.36": "3.6.8", "v1.37": "3.6.9"}

// upgradePaths are the paths of random clusters: the versions of control plane and workers, and the
// ClusterReleases that exist.
var upgradePaths = []struct {
	weight              int
	from, workersAt, to string
	releases            []string
}{
	{6, "v1.35.4", "", "v1.36.3", []string{"v1.36.3"}},
	{3, "v1.36.1", "", "v1.36.3", []string{"v1.36.3", "v1.36.2"}},
	{2, "v1.35.4", "v1.33.2", "v1.36.3", []string{"v1.36.3"}},
	{2, "v1.35.4", "", "v1.37.1", []string{"v1.36.3", "v1.37.1"}},
	{1, "v1.33.2", "", "v1.37.1", []string{"v1.34.4", "v1.35.4", "v1.36.3", "v1.37.1"}},
	{1, "v1.36.1", "v1.33.2", "v1.37.1", []string{"v1.36.3", "v1.37.1"}},
	{2, "v1.36.3", "", "v1.36.3", []string{"v1.36.3"}},        // components alone
	{1, "v1.36.3", "v1.36.1", "v1.36.3", []string{"v1.36.3"}}, // with workers that lag behind
}

// randomScenario draws a small cluster, a path and a policy.
func randomScenario(dice *rand.Rand) scenario {
	roll := dice.IntN(18)
	road := upgradePaths[0]
	for _, r := range upgradePaths {
		if road = r; roll < r.weight {
			break
		}
		roll -= r.weight
	}
	sc := scenario{
		controlPlanes: []int{1, 1, 1, 2, 3, 3, 3, 3, 3, 5}[dice.IntN(10)], workers: dice.IntN(6), zones: 1 + dice.IntN(2),
		version: road.from, workersAt: road.workersAt, external: dice.IntN(10) == 0, releases: road.releases,
		spec: refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: road.to}, Approval: refitv1alpha1.ApprovalNone},
	}
	sc.containerd = []string{"1.7.27", "2.0.1", "2.0.1"}[dice.IntN(3)] // the first is replaced by another major version
	spec := &sc.spec
	if dice.IntN(4) == 0 {
		spec.Approval = refitv1alpha1.ApprovalRequired
	}
	if dice.IntN(4) == 0 {
		spec.Rollback = refitv1alpha1.RollbackManual
	}
	switch dice.IntN(12) {
	case 0:
		spec.Scope = refitv1alpha1.ScopeControlPlane
	case 1:
		spec.Scope = refitv1alpha1.ScopeWorkers
		spec.Target.Kubernetes, sc.version, sc.workersAt = "v1.36.3", "v1.36.3", "v1.35.4"
		sc.releases = []string{"v1.36.3"}
	}
	if road.to == spec.Target.Kubernetes && len(sc.releases) == 1 && dice.IntN(2) == 0 {
		byRelease(spec)
	}
	if sc.controlPlanes == 2 && dice.IntN(2) == 0 {
		spec.Waivers = append(spec.Waivers, refitv1alpha1.Waiver{Check: policy.CheckTwoMembers, Reason: "the outage is announced"})
	}
	if len(sc.releases) > 1 && dice.IntN(5) == 0 { // the last one is created later
		sc.releases = sc.releases[:len(sc.releases)-1]
	}
	if sc.longPods = dice.IntN(8) == 0; sc.longPods {
		sc.suffix = strings.Repeat(".0123456789-abcdef", 13)
	}
	randomBackup(dice, &sc)
	randomComponents(dice, &sc)
	spec.Pools = []refitv1alpha1.Pool{randomPool(dice, policy.DefaultPool)}
	if dice.IntN(3) == 0 {
		sc.pools = []string{"batch", ""}
		batch := randomPool(dice, "batch")
		batch.NodeSelector = refitv1alpha1.Labels{"pool": "batch"}
		spec.Pools = append(spec.Pools, batch)
	}
	for i := range 1 + dice.IntN(2) {
		sc.loads = append(sc.loads, load{name: []string{"cart", "search"}[i], pods: 1 + dice.IntN(4), maxUnavailable: int32(dice.IntN(4) - 1), anyNode: dice.IntN(3) == 0})
	}
	randomWindow(dice, &sc)
	return sc
}

// randomBackup draws the backup that the operation relies on, or a waiver.
func randomBackup(dice *rand.Rand, sc *scenario) {
	age := []time.Duration{20 * time.Minute, time.Hour, 24 * time.Hour}[dice.IntN(3)]
	sc.spec.Backup = []*refitv1alpha1.UpgradeBackup{
		nil, {Drill: refitv1alpha1.DrillRestore, MaxAge: metav1.Duration{Duration: age}}, {MaxAge: metav1.Duration{Duration: age}}, {},
	}[dice.IntN(4)]
	if dice.IntN(10) == 0 {
		sc.spec.Waivers = append(sc.spec.Waivers, refitv1alpha1.Waiver{Check: policy.CheckBackup, Reason: "the storage has snapshots"})
	}
}

// randomComponents draws components: some run on every version, some on two minor versions each,
// some are not installed yet, and some are removed.
func randomComponents(dice *rand.Rand, sc *scenario) {
	alone := sc.version == sc.spec.Target.Kubernetes
	if !alone && dice.IntN(3) > 0 {
		return
	}
	names := []string{"gateway", "mesh", "queue"}[:1+dice.IntN(3)]
	for i, name := range names {
		a := addOn{name: name, installed: "v1.0.0", offers: map[string][]refitv1alpha1.ReleaseComponent{}}
		kind := dice.IntN(5)
		switch {
		case kind == 0:
			a.installed = ""
		case kind == 4 && i > 0: // others may need the first
			a.offers[sc.version] = []refitv1alpha1.ReleaseComponent{{Name: name, Version: a.installed, OnRemove: refitv1alpha1.RemoveUninstall}}
			sc.addOns = append(sc.addOns, a)
			continue
		}
		for hop, version := range sc.releases {
			c := refitv1alpha1.ReleaseComponent{Name: name, Version: fmt.Sprintf("v1.%d.0", hop+1)}
			switch kind {
			case 1, 2:
				c.Fits = inStep(sc.version)
				c.Version = fmt.Sprintf("v1.%d.0", minorOf(version)-minorOf(sc.version))
			case 3:
				c.Place = refitv1alpha1.PlaceBefore
			}
			if i > 0 && kind != 1 && dice.IntN(2) == 0 {
				c.Needs = names[:1]
			}
			a.offers[version] = append(a.offers[version], c)
		}
		sc.addOns = append(sc.addOns, a)
	}
}

// inStep are the combinations of a component of which each minor version runs on two minor versions
// of Kubernetes.
func inStep(from string) (fits []refitv1alpha1.ComponentFit) {
	for i, minor := 0, minorOf(from); i < 8; i++ {
		fits = append(fits, refitv1alpha1.ComponentFit{
			Version: fmt.Sprintf(">=1.%d <1.%d", i, i+1), Kubernetes: fmt.Sprintf(">=1.%d <1.%d", minor+i-1, minor+i+1),
		})
	}
	return fits
}

func minorOf(version string) int {
	v, _ := skew.Parse(version)
	return v.Minor
}

func randomPool(dice *rand.Rand, name string) refitv1alpha1.Pool {
	most := []intstr.IntOrString{intstr.FromInt32(1), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("50%")}[dice.IntN(4)]
	pool := refitv1alpha1.Pool{Name: name, MaxUnavailable: &most, Drain: refitv1alpha1.Drain{
		Timeout:   metav1.Duration{Duration: time.Duration(1+dice.IntN(4)) * time.Minute},
		OnBlocked: []refitv1alpha1.OnBlocked{refitv1alpha1.OnBlockedWait, refitv1alpha1.OnBlockedSkip, refitv1alpha1.OnBlockedFail, refitv1alpha1.OnBlockedDelete}[dice.IntN(4)],
	}}
	if dice.IntN(6) == 0 {
		pool.Drain.When = refitv1alpha1.DrainAllReleases
	}
	if dice.IntN(4) == 0 {
		pool.Canary = &refitv1alpha1.Canary{Nodes: int32(1 + dice.IntN(2)), Soak: metav1.Duration{Duration: time.Duration(1+dice.IntN(3)) * time.Minute}}
	}
	return pool
}
