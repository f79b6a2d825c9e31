//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Modes of the crash points.
const (
	crashLog  = "log"  // log the name of every point reached
	crashEach = "each" // die at every point, once
	crashOnly = "only" // die at the given points, once each
	crashStop = "stop" // stop at the given point
)

const (
	pointsFile = "/etc/refit/crashpoints.yaml"
	pointsLog  = agentState + "/crashpoints.log"
	// standing exists while an agent is stopped at its point. It is not on the disk, which may be
	// full or read-only by then.
	standing = "/run/refit-crashpoints.stopped"
)

// setPoints configures the crash points. The node may be off.
func setPoints(ctx context.Context, n *cluster.Node, mode string, points ...string) error {
	return writeOn(ctx, n, pointsFile, fmt.Sprintf("{mode: %s, match: [%s], log: %s, stopped: %s}\n", mode, quoted(points), pointsLog, standing))
}

func quoted(points []string) string {
	var list []string
	for _, point := range points {
		list = append(list, strconv.Quote(point))
	}
	return strings.Join(list, ", ")
}

// crashAt configures the crash points of a running agent and clears the points already reached.
func crashAt(ctx context.Context, n *cluster.Node, mode string, points ...string) error {
	if _, err := n.Exec(ctx, "rm", "-f", pointsLog, standing); err != nil {
		return err
	}
	return setPoints(ctx, n, mode, points...)
}

// noCrashes disables the crash points.
func noCrashes(ctx context.Context, n *cluster.Node) error {
	_, err := n.Exec(ctx, "rm", "-f", pointsFile, pointsLog, standing)
	return err
}

// waitStanding waits until the agent is stopped at its point.
func waitStanding(ctx context.Context, n *cluster.Node) error {
	return until(ctx, "the agent of "+n.Name()+" to stand still", changing, func(ctx context.Context) error {
		_, err := n.Exec(ctx, "test", "-e", standing)
		return err
	})
}

// goOn resumes an agent that is stopped at its point.
func goOn(ctx context.Context, n *cluster.Node) error {
	_, err := n.Exec(ctx, "rm", standing)
	return err
}

// pointsOf lists the points that a node's agent has reached, in order.
func pointsOf(ctx context.Context, n *cluster.Node) ([]string, error) {
	text, err := readOn(ctx, n, pointsLog)
	if err != nil {
		return nil, err
	}
	points := strings.Fields(text)
	if len(points) == 0 {
		return nil, errors.New(pointsLog + " of " + n.Name() + " names no point")
	}
	return points, nil
}
