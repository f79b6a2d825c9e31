package steps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Manager is the field manager of all changes beside Helm's.
const Manager = "refit-components"

// Run is the execution of one order.
type Run struct {
	// Config is closed with the lease of the leader.
	Config *rest.Config
	Scheme *runtime.Scheme
	// Lease ends when this process may no longer lead.
	Lease context.Context
	Log   *slog.Logger
	// Username is who the client is for the API server: a freeze does not deny it.
	Username string

	// Owner is the ComponentUpgrade.
	Owner *refitv1alpha1.ComponentUpgrade
	// Component is the signed content, and Steps are those of its recipe.
	Component refitv1alpha1.ReleaseComponent
	Steps     []component.Step
	// Chart reads the chart and verifies its digest.
	Chart func(ctx context.Context) ([]byte, error)

	// Freeze records a freeze before it comes into force.
	Freeze func(ctx context.Context, limit time.Duration) error
	// Waiting reports what the step waits for.
	Waiting func(what string)
	// Permitted ends once the order no longer permits the step, whose waits end then. If it is nil,
	// nothing but the limit ends them.
	Permitted context.Context
	// Left are what a rollback left unchanged.
	Left []string

	// Set by open.
	client client.Client
	crds   *crd.Actor
	saved  *saved
	secret []string // texts that must not be shown
}

// open creates the clients of a step, and reads what was saved. They are new for each step, since
// CRDs change in between.
func (r *Run) open(ctx context.Context) (err error) {
	if r.client, err = client.New(r.Config, client.Options{Scheme: r.Scheme}); err != nil {
		return fmt.Errorf("cannot create clients: %w", err)
	}
	if r.crds, err = crd.NewActor(r.Config, Manager); err != nil {
		return fmt.Errorf("cannot create clients: %w", err)
	}
	r.saved, err = readSaved(ctx, r.client, r.Owner)
	if r.saved != nil {
		r.secret = r.saved.Hidden
	}
	return err
}

// HideIn removes values of Secrets from the text of an error.
func (r *Run) HideIn(err error) error {
	if err == nil || len(r.secret) == 0 {
		return err
	}
	return &hidingError{err, r.Hide(err.Error())}
}

// hidingError is an error with another text.
type hidingError struct {
	error

	text string
}

func (h *hidingError) Error() string { return h.text }

func (h *hidingError) Unwrap() error { return h.error }

// From returns the version before the upgrade, once it is saved.
func (r *Run) From() string {
	if r.saved == nil {
		return ""
	}
	return r.saved.From
}

func (r *Run) name() string { return r.Owner.Name }

func (r *Run) order() *refitv1alpha1.ComponentOrder { return r.Owner.Status.Order }

func (r *Run) installs() bool { return r.order().Action == refitv1alpha1.ActionInstall }

func (r *Run) removes() bool { return r.order().Action == refitv1alpha1.ActionRemove }

func (r *Run) release() helm.Release { return helm.Release(r.Component.Release) }

func (r *Run) helm() *helm.Client {
	return helm.New(r.Lease, r.Config, r.release(), r.helmLog(r.Log.Handler()))
}

func (r *Run) helmLog(log slog.Handler) slog.Handler { return hidingHandler{log, r.Hide} }

func (r *Run) editor() *object.Editor {
	return &object.Editor{Client: r.client, Manager: Manager, Await: r.await}
}

// editorOf returns the editor of a step. One of a rollback reports what does not become ready and
// goes on, as restored does.
func (r *Run) editorOf(step component.Step) *object.Editor {
	e := r.editor()
	if step.Of != "" {
		e.Unready = func(unready *object.NotReadyError) { r.leaveUnready(step, unready) }
	}
	return e
}

// ErrHeld ends a wait of a step that the order no longer permits. The writes before the wait are
// complete.
var ErrHeld = errors.New("the order no longer permits the step")

// await waits while the order permits the step.
func (r *Run) await(ctx context.Context, wait func(context.Context) error) error {
	if r.Permitted == nil {
		return wait(ctx)
	}
	permitted, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(r.Permitted, func() { cancel(ErrHeld) })
	defer stop()
	err := wait(permitted)
	if err != nil && errors.Is(context.Cause(permitted), ErrHeld) {
		return ErrHeld
	}
	return err
}

// uidChars are enough to distinguish the journals of one component.
const uidChars = 8

// mark identifies the Helm revision of a step. Sequences start again when a ComponentUpgrade is
// deleted, and names of operations are used again: without its UID, a revision of a former journal
// would count as that of this one.
func (r *Run) mark(step string) helm.Mark {
	uid := string(r.Owner.UID)
	operation := r.order().Operation.Name + "." + uid[:min(len(uid), uidChars)]
	return helm.Mark{Operation: operation, Sequence: r.Owner.Status.Journal, Step: step}
}

func (r *Run) freezer() *object.Freezer { return FreezerOf(r.client, r.Username) }

// FreezerOf returns what freezes and thaws components.
func FreezerOf(c client.Client, username string) *object.Freezer {
	return &object.Freezer{Client: c, Username: username, Namespace: offer.Namespace, Manager: Manager}
}

// input reads what the offer depends on from the cluster.
func (r *Run) input(ctx context.Context) (offer.Input, error) {
	in, err := offer.Read(ctx, offer.Source{
		Config: r.Config, Reader: r.client, Helm: r.helm(), Chart: r.Chart,
		Key: func(ctx context.Context) ([]byte, error) { return offer.EnsureDigestKey(ctx, r.client) },
	}, offer.Change{
		Component: r.Component, Action: component.Action(r.order().Action), Kubernetes: r.order().Kubernetes,
	})
	r.secret = in.Secret
	return in, err
}

// rendered returns the new version as it was checked.
func (r *Run) rendered(ctx context.Context) (*offer.Offer, error) {
	archive, err := r.Chart(ctx)
	if err != nil {
		return nil, err
	}
	chart, err := helm.Load(archive)
	if err != nil {
		return nil, err
	}
	s := r.saved
	return offer.RenderAgain(ctx, helm.Upgrade{
		Chart: chart, Values: s.Values, Capabilities: s.Capabilities, From: s.Revision, Deletions: s.Deletions,
	}, r.release(), !r.installs())
}
