package installation

import (
	"context"
	"errors"
	"fmt"
	"io"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/install"
)

// Uninstaller removes Refit.
type Uninstaller struct {
	Choice

	Confirmed bool      // false: only report what would be removed
	Log       io.Writer // progress for the user
	// Changing is called before the cluster is changed.
	Changing func()
}

// Uninstall removes Refit from the reachable hosts and from the cluster. It may return both a
// result and an error: some hosts were unreachable.
func (u *Uninstaller) Uninstall(ctx context.Context, cluster Cluster, name string) (*cliv1alpha1.Uninstall, error) {
	options, err := u.options(install.Existing{})
	if err != nil {
		return nil, err
	}
	options.AgentChosen = u.Repository != ""
	survey, err := cluster.Survey(ctx, options)
	if err != nil {
		return nil, late(ctx, err)
	}
	result := uninstallOf(name, survey)
	if !u.Confirmed || !result.Installed {
		return result, nil
	}
	u.Changing()
	report := &reporter{out: u.Log, done: "removed"}
	removed, err := cluster.Remove(ctx, options, report.callbacks())
	if err != nil {
		return nil, unfinished(ctx, err, removed)
	}
	result.Done, result.Objects = true, objectsOf(removed.Changes)
	result.Cordoned, result.Nodes = removed.Uncordoned, hostsOf(removed.Nodes)
	if left := notDone(removed.Nodes); left > 0 {
		err = fmt.Errorf("%d of %d hosts could not be reached and keep their agent", left, len(removed.Nodes))
	}
	return result, err
}

// unfinished is the error of an incomplete removal, with the first node that it waits for.
func unfinished(ctx context.Context, err error, removed install.Removal) error {
	if !errors.Is(err, install.ErrNotDone) {
		return late(ctx, err)
	}
	for _, n := range removed.Nodes {
		if n.State != install.Done && n.State != install.Unreachable {
			return exit.TimeoutError{Err: fmt.Errorf("%w; %s: %s: %s. Fix the cause and run the same command again; if nodes cannot pull the image, "+
				"name another repository with --image-repository", err, n.Node, text.State(string(n.State), "removed"), n.Why)}
		}
	}
	return late(ctx, err)
}

func notDone(nodes []install.NodeProgress) (n int) {
	for _, node := range nodes {
		if node.State != install.Done {
			n++
		}
	}
	return n
}
