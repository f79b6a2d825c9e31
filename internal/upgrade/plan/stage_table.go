package plan

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// StageKind is everything about one kind of stage. To add a kind, add its row to stageTable.
type StageKind struct {
	Name refitv1alpha1.StageName

	// Title heads the stage, followed by its version if it is Versioned.
	Title     string
	Versioned bool
	// Pace is how its nodes follow each other.
	Pace Pace
	// Always means that the stage has something to do even without nodes.
	Always bool
	// Once means that the stage is done once for the cluster, and not for each node.
	Once bool
	// Components means that the stage changes components, not nodes.
	Components bool

	// included reports whether a hop has this stage. It follows from the path and the scope alone,
	// never from how far the cluster has come: a stage does not vanish when it is complete. Those
	// of components follow from what was installed when the plan was made, which the operation
	// records.
	included func(m *planner, p *Plan, hop int) bool
	// reason is why the stage exists and how it proceeds.
	reason func(m *planner, p *Plan, hop int) string
	// steps sets the nodes of the stage and its estimate.
	steps func(m *planner, p *Plan, stage *Stage)
	// complete reports whether the stage has nothing left to do; grant starts what is left.
	complete func(d *deciding, hop int) bool
	grant    func(d *deciding, hop int)
	// done counts the nodes that have completed the stage.
	done func(v *view, hop int) int32
}

// Pace is how the nodes of a stage follow each other.
type Pace string

// The paces. The zero value is a stage without nodes.
const (
	PaceNone        Pace = ""
	PaceFewAtATime  Pace = "FewAtATime"  // undisrupted, a few at a time
	PaceOneAtATime  Pace = "OneAtATime"  // disrupted, one after the other
	PacePoolWindows Pace = "PoolWindows" // disrupted, maxUnavailable of each pool at a time
)

// Disrupts reports whether nodes of the stage become unavailable.
func (p Pace) Disrupts() bool { return p == PaceOneAtATime || p == PacePoolWindows }

// stageTable is every kind of stage, in the order in which a hop goes through them. A changed list
// of stages changes the hash of plans.
var stageTable = []StageKind{
	{
		Name: refitv1alpha1.StagePrefetch, Title: "Prefetch", Versioned: true, Pace: PaceFewAtATime,
		included: (*planner).everyHop,
		reason:   (*planner).prefetchReason,
		steps:    (*planner).prefetchSteps,
		complete: (*deciding).prefetchComplete,
		grant:    (*deciding).grantPrefetch,
		done:     (*view).prefetchDone,
	},
	{
		Name: refitv1alpha1.StageBackup, Title: "Backup before", Versioned: true, Once: true,
		included: (*planner).backedUp,
		reason:   (*planner).backupReason,
		steps:    (*planner).backupSteps,
		complete: (*deciding).backupComplete,
		grant:    (*deciding).grantBackup,
		done:     (*view).backupDone,
	},
	{
		Name: refitv1alpha1.StageRehearsal, Title: "Rehearsal", Versioned: true, Once: true,
		included: (*planner).rehearsed,
		reason:   (*planner).rehearsalReason,
		steps:    (*planner).rehearsalSteps,
		complete: (*deciding).rehearsalComplete,
		grant:    (*deciding).grantBackup,
		done:     (*view).rehearsalDone,
	},
	{
		Name: refitv1alpha1.StageComponentsBefore, Title: "Components before", Versioned: true, Components: true,
		included: (*planner).componentsBefore,
		reason:   (*planner).componentsBeforeReason,
		steps:    (*planner).componentSteps,
		complete: (*deciding).componentsBeforeComplete,
		grant:    (*deciding).grantComponentsBefore,
		done:     (*view).componentsBeforeDone,
	},
	{
		Name: refitv1alpha1.StageControlPlane, Title: "Control plane", Versioned: true, Pace: PaceOneAtATime,
		included: (*planner).controlPlaneMoves,
		reason:   (*planner).controlPlaneReason,
		steps:    (*planner).controlPlaneSteps,
		complete: (*deciding).controlPlaneSettled,
		grant:    (*deciding).grantControlPlane,
		done:     (*view).controlPlaneDone,
	},
	{
		Name: refitv1alpha1.StageComponents, Title: "Components", Versioned: true, Components: true,
		included: (*planner).componentsAfter,
		reason:   (*planner).componentsReason,
		steps:    (*planner).componentSteps,
		complete: (*deciding).componentsComplete,
		grant:    (*deciding).grantComponents,
		done:     (*view).componentsDone,
	},
	{
		Name: refitv1alpha1.StageWorkers, Title: "Workers", Versioned: true, Pace: PacePoolWindows,
		included: (*planner).workersFollow,
		reason:   (*planner).workersReason,
		steps:    (*planner).workerSteps,
		complete: (*deciding).workersSettled,
		grant:    (*deciding).grantWorkers,
		done:     (*view).workersDone,
	},
	{
		Name: refitv1alpha1.StageVerify, Title: "Verify", Always: true,
		included: (*planner).lastHop,
		reason:   (*planner).verifyReason,
		steps:    (*planner).verifySteps,
		complete: (*deciding).never, // the operation ends with it
		grant:    (*deciding).finish,
		done:     (*view).noneDone,
	},
}

// StageKindOf returns the kind of a stage. A stage of a newer Refit is shown by its name.
func StageKindOf(name refitv1alpha1.StageName) StageKind {
	i := slices.IndexFunc(stageTable, func(k StageKind) bool { return k.Name == name })
	if i < 0 {
		return StageKind{Name: name, Title: string(name), Versioned: true}
	}
	return stageTable[i]
}

// Heading is the title of a stage of a version.
func (k *StageKind) Heading(version string) string {
	if !k.Versioned {
		return k.Title
	}
	return k.Title + " " + version
}
