package component

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// recipe has every word that changes something.
var recipe = []refitv1alpha1.RecipeStep{
	{Require: &refitv1alpha1.RecipeRequire{Peers: &refitv1alpha1.RecipePeers{ListedBy: "foreignclusters.core.liqo.io"}}},
	{Freeze: &refitv1alpha1.RecipeFreeze{
		Limit: metav1.Duration{Duration: 30 * time.Minute},
		Deny:  refitv1alpha1.RecipeDeny{Operations: []string{"CREATE"}, Resources: []string{"foreignclusters.core.liqo.io"}},
	}},
	{CRDs: &refitv1alpha1.RecipeCRDs{}},
	{Wave: &refitv1alpha1.RecipeWave{Name: "controllers", Objects: []string{"Deployment/liqo-controller-manager"}}},
	{Touch: &refitv1alpha1.RecipeTouch{RecipeObjects: refitv1alpha1.RecipeObjects{Kind: "GatewayServer.networking.liqo.io", OneByOne: true}}},
	{Patch: &refitv1alpha1.RecipePatch{
		RecipeObjects: refitv1alpha1.RecipeObjects{Kind: "VirtualNode.offloading.liqo.io"}, Path: "/spec/image", Value: "${image:virtual-kubelet}",
	}},
	{Wave: &refitv1alpha1.RecipeWave{Name: "rest"}},
	{Verify: &refitv1alpha1.RecipeVerify{Ready: refitv1alpha1.VerifyAll}},
}

// world is a cluster in which a component is upgraded by a process that can be killed before and
// after each write. Each changing step writes three times, like a Helm revision: pending, objects,
// deployed.
type world struct {
	t       *testing.T
	journal State
	now     time.Time

	objects map[string]string // by step: old, half new, new, half old
	policy  bool              // the freeze exists
	commit  bool              // objects are stored in the new version only

	permitAt int // the write after which another order comes, 0 for none
	permit   refitv1alpha1.Permit

	fails  map[string]int // how often a step still fails
	writes int
	// interrupts counts the waits that ended because of another order.
	interrupts int
	killAt     int // the write at which the process dies, 0 for none
	killAfter  bool
	dead       bool
}

func newWorld(t *testing.T, fails map[string]int) *world {
	t.Helper()
	steps, err := Compile(recipe)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, now: time.Unix(1e9, 0), objects: map[string]string{}, fails: map[string]int{},
		journal: State{Steps: steps, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto},
	}
	maps.Copy(w.fails, fails)
	return w
}

// write performs one write, unless the process dies before it.
func (w *world) write(change func()) {
	if w.dead {
		return
	}
	w.writes++
	if w.writes == w.permitAt {
		w.journal.Permit = w.permit
	}
	if w.writes == w.killAt && !w.killAfter {
		w.dead = true
		return
	}
	change()
	if w.policy && w.journal.Frozen == nil {
		w.t.Error("a freeze exists that the journal does not have")
	}
	w.dead = w.writes == w.killAt
}

// store stores the journal. The order is written by others.
func (w *world) store(journal State) {
	w.write(func() {
		journal.Permit = w.journal.Permit
		w.journal = journal
	})
}

// run advances the upgrade until it waits or its process dies.
func (w *world) run() {
	for range 200 {
		move := Next(w.journal, w.now)
		if w.dead || move.Kind == MoveWait {
			return
		}
		w.now = w.now.Add(time.Minute)
		w.act(move)
	}
	w.t.Fatal("the upgrade does not end")
}

func (w *world) act(move Move) {
	switch move.Kind {
	case MoveRun:
		w.store(w.journal.Start(move.Step))
		failure := w.perform(move.Step)
		if failure == nil && move.Step.Waits && !w.journal.RollingBack && w.journal.Permit != refitv1alpha1.PermitApply {
			w.interrupts++
			w.store(w.journal.Interrupt(move.Step))
			return
		}
		w.store(w.journal.End(move.Step, failure))
	case MoveThaw:
		w.write(func() { w.policy = false })
		w.store(w.journal.Thaw(w.now))
	case MoveFail:
		w.store(w.journal.Fail(Failure{Reason: move.Reason}))
	case MoveRollback:
		w.store(w.journal.RollBack())
	case MoveFinish:
		if w.policy {
			w.t.Error("the upgrade ends while its freeze exists")
		}
		w.store(w.journal.Finish(move.Outcome))
	}
}

// perform executes a step. Every step can be repeated.
func (w *world) perform(step Step) *Failure {
	switch {
	case step.Kind == StepFreeze:
		w.store(w.journal.Freeze(w.now, step.Recipe.Freeze.Limit.Duration))
		w.write(func() { w.policy = true })
	case step.Kind == StepCommit:
		w.write(func() { w.commit = true })
	case step.Of != "" && step.Kind != StepUnflip:
		w.change(step.Of, "half old", "old")
	case step.Changes && step.Kind != StepVerify:
		w.change(step.Name, "half new", "new")
	}
	if w.fails[step.Name] > 0 && !w.dead {
		w.fails[step.Name]--
		return &Failure{Class: refitv1alpha1.FailureManualIntervention, Reason: "StepFailed"}
	}
	return nil
}

func (w *world) change(of, half, whole string) {
	if w.dead {
		return
	}
	if w.commit {
		w.t.Errorf("%s changed after the commit", of)
	}
	if at := w.objects[of]; at == "half new" && half == "half old" && w.stateOf(of) == Running {
		w.t.Errorf("%s turned around while it was open", of)
	}
	w.write(func() { w.objects[of] = half })
	if w.fails[of] > 0 { // a failed step leaves its objects in between
		return
	}
	w.write(func() { w.objects[of] = whole })
}

func (w *world) stateOf(step string) RecordState { return w.journal.stateOf(step) }

// restart starts another process.
func (w *world) restart() { w.dead, w.killAt = false, 0 }

// scenario is a situation in which processes are killed.
type scenario struct {
	name    string
	fails   map[string]int
	orders  func(*world) // after the first process has waited or died
	want    Outcome
	retries int
}

var scenarios = []scenario{
	{name: "upgrade", want: Succeeded},
	{name: "verification fails", fails: map[string]int{"verify": 1}, want: RolledBack},
	{name: "wave fails", fails: map[string]int{"wave-rest": 1}, want: RolledBack},
	{name: "crds fail", fails: map[string]int{"crds": 1}, want: RolledBack},
	{name: "check fails", fails: map[string]int{"check": 1}, want: Succeeded, retries: 1},
	{name: "adoption fails while frozen", fails: map[string]int{"adopt": 1}, want: Succeeded, retries: 1},
	{name: "undo of a wave fails", fails: map[string]int{"verify": 1, "undo-wave-controllers": 1}, want: RolledBack, retries: 1},
	{name: "sweep fails", fails: map[string]int{"sweep": 1}, want: Succeeded, retries: 1},
	{name: "rollback ordered", want: RolledBack, orders: func(w *world) { w.journal.Permit = refitv1alpha1.PermitRollback }},
}

// play runs a scenario to its end.
func play(w *world, s scenario) {
	w.run()
	w.restart()
	if s.orders != nil {
		s.orders(w)
	}
	for range s.retries + 2 {
		w.run()
		if w.policy {
			w.t.Error("the upgrade waits while its freeze exists")
		}
		if w.journal.Outcome == "" && w.journal.Failure != nil {
			w.journal = w.journal.Retry()
		}
	}
}

func TestProcessKilledAtEveryWrite(t *testing.T) {
	kills := 0
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			clean := newWorld(t, s.fails)
			if s.orders != nil {
				clean.killAt = 12 // orders change while a step is open
			}
			play(clean, s)
			if clean.journal.Outcome != s.want {
				t.Fatalf("outcome %q, want %q; journal %v, failure %v", clean.journal.Outcome, s.want, clean.journal.Records, clean.journal.Failure)
			}
			for at := 1; at <= clean.writes; at++ {
				for _, after := range []bool{false, true} {
					w := newWorld(t, s.fails)
					w.killAt, w.killAfter = at, after
					play(w, s)
					kills++
					if got, want := w.final(s), clean.final(s); got != want && s.orders == nil {
						t.Errorf("killed at write %d (after it: %t): %s, want %s", at, after, got, want)
					}
					if s.orders != nil {
						w.ordered(at)
					}
				}
			}
		})
	}
	t.Logf("%d kills", kills)
}

// final describes the end of an upgrade. A failure that a killed process did not store happens once
// less, so a rollback can become a success; a retry does the same.
func (w *world) final(s scenario) string {
	if w.journal.Outcome == Succeeded && s.want == RolledBack {
		for _, state := range w.objects {
			if state != "new" {
				return fmt.Sprintf("succeeded with %v", w.objects)
			}
		}
		return "" + describe(RolledBack, false)
	}
	return describe(w.journal.Outcome, w.policy) + w.unfinished()
}

func describe(outcome Outcome, policy bool) string {
	return fmt.Sprintf("%s, frozen %t", outcome, policy)
}

// unfinished returns the objects that are not what the outcome says.
func (w *world) unfinished() (out string) {
	want := map[Outcome]string{Succeeded: "new", RolledBack: "old"}[w.journal.Outcome]
	for _, step := range slices.Sorted(maps.Keys(w.objects)) {
		if w.objects[step] != want {
			out += fmt.Sprintf(", %s is %s", step, w.objects[step])
		}
	}
	return out
}

// ordered requires that a rollback that was ordered at any time ends in one of the two versions.
func (w *world) ordered(at int) {
	w.t.Helper()
	if w.journal.Outcome == "" || w.unfinished() != "" || w.policy {
		w.t.Errorf("killed at write %d: outcome %q%s, frozen %t, journal %v", at, w.journal.Outcome, w.unfinished(), w.policy, w.journal.Records)
	}
}

// Kills, orders, failures and time in any order never leave a freeze or a mixture of versions.
func TestRandomKillsAndOrders(t *testing.T) {
	const rounds = 3000
	permits := []refitv1alpha1.Permit{refitv1alpha1.PermitHold, refitv1alpha1.PermitApply, refitv1alpha1.PermitRollback}
	for seed := range uint64(rounds) {
		random := rand.New(rand.NewPCG(seed, 17))
		w := newWorld(t, nil)
		for _, step := range w.journal.Steps {
			if random.IntN(12) == 0 {
				w.fails[step.Name] = random.IntN(2)
				w.fails[undoName(step.Name)] = random.IntN(2)
			}
		}
		for range 30 {
			w.restart()
			w.killAt, w.killAfter = w.writes+1+random.IntN(30), random.IntN(2) == 0
			w.permitAt, w.permit = w.writes+1+random.IntN(30), permits[random.IntN(len(permits))]
			w.journal.Permit = permits[random.IntN(len(permits))]
			w.now = w.now.Add(time.Duration(random.IntN(20)) * time.Minute)
			if random.IntN(2) == 0 {
				w.journal = w.journal.Retry()
			}
			if w.run(); !w.dead && w.policy {
				t.Fatalf("seed %d: the upgrade waits while its freeze exists; journal %v", seed, w.journal.Records)
			}
		}
		for range 100 {
			w.restart()
			w.journal.Permit = refitv1alpha1.PermitApply
			w.journal = w.journal.Retry()
			w.run()
		}
		if rest := w.unfinished(); w.journal.Outcome == "" || rest != "" || w.policy {
			t.Fatalf("seed %d: %s%s, frozen %t", seed, w.journal.Outcome, rest, w.policy)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// An order that comes during any write ends the wait of the open step, and never leaves a mixture
// of versions: whether the upgrade continues or is rolled back then, and also if it is killed.
func TestOrdersDuringEveryWrite(t *testing.T) {
	clean := newWorld(t, nil)
	clean.run()
	interrupts := 0
	for at := 1; at <= clean.writes; at++ {
		for _, first := range []refitv1alpha1.Permit{refitv1alpha1.PermitHold, refitv1alpha1.PermitRollback} {
			for _, then := range []refitv1alpha1.Permit{refitv1alpha1.PermitApply, refitv1alpha1.PermitRollback} {
				for kill := range 12 {
					w := newWorld(t, nil)
					w.permitAt, w.permit = at, first
					if kill > 0 {
						w.killAt, w.killAfter = at+kill/2, kill%2 == 0
					}
					w.run()
					w.restart()
					w.run()
					if open := w.journal.open(); open && w.journal.Outcome == "" {
						t.Errorf("order %s during write %d, kill %d: a step stays open: %v", first, at, kill, w.journal.Records)
					}
					if w.policy {
						t.Errorf("order %s during write %d, kill %d: the upgrade waits while its freeze exists", first, at, kill)
					}
					w.journal.Permit = then
					w.run()
					if w.journal.Outcome == "" || w.unfinished() != "" || w.policy {
						t.Errorf("orders %s and %s during write %d, kill %d: outcome %q%s, frozen %t", first, then, at, kill, w.journal.Outcome, w.unfinished(), w.policy)
					}
					interrupts += w.interrupts
				}
			}
		}
	}
	if interrupts == 0 {
		t.Error("no wait was interrupted")
	}
	t.Logf("%d interrupted waits", interrupts)
}
