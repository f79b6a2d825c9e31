package starting

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
)

// user is a user with or without a terminal, and what the command did in order.
type user struct {
	absent, declines bool
	events           []string
}

var errDeclined = errors.New("declined")

func (u *user) MayAsk() error {
	if u.absent {
		return exit.Usagef("use --yes")
	}
	return nil
}

func (u *user) Confirm(_ context.Context, question string) error {
	u.events = append(u.events, question)
	if u.declines {
		return errDeclined
	}
	return nil
}

func TestTheUserConfirmsThePlanThatIsShown(t *testing.T) {
	const question = "Upgrade prod to v1.36.3 with this plan?"
	stage := []cliv1alpha1.Stage{{Nodes: []cliv1alpha1.Node{{From: "v1.35.4"}}}}
	for situation, c := range map[string]struct {
		starter     Starter
		user        user
		stages      []cliv1alpha1.Stage
		blocked     bool
		controllers error
		events      []string
		hash        bool
		fails       bool
	}{
		"the user accepts":         {Starter{}, user{}, stage, false, nil, []string{"controllers", "assess", "show", question}, true, false},
		"the user declines":        {Starter{}, user{declines: true}, stage, false, nil, []string{"controllers", "assess", "show", question}, true, true},
		"accepted in advance":      {Starter{Yes: true}, user{absent: true}, stage, false, nil, []string{"controllers", "assess", "show"}, true, false},
		"nobody can be asked":      {Starter{}, user{absent: true}, stage, false, nil, nil, false, true},
		"nothing to upgrade":       {Starter{}, user{}, nil, false, nil, []string{"controllers", "assess", "show"}, false, false},
		"a finding blocks":         {Starter{Yes: true}, user{}, stage, true, nil, []string{"controllers", "assess", "show"}, true, true},
		"there are no controllers": {Starter{}, user{}, stage, false, errors.New("run `refit install`"), []string{"controllers"}, false, true},
		"the command runs them":    {Starter{Standalone: true}, user{}, stage, false, errors.New("unused"), []string{"assess", "show", question}, true, false},
	} {
		requested, notes, happens := to("v1.36.3"), &strings.Builder{}, func(event string) { c.user.events = append(c.user.events, event) }
		c.starter.Notes = notes
		hash, err := c.starter.Propose(t.Context(), Proposal{
			Requested: &requested, Cluster: "prod", Terminal: &c.user,
			Controllers: func(context.Context) (string, error) {
				happens("controllers")
				return "a note", c.controllers
			},
			Assess: func(context.Context) (*cliv1alpha1.Report, error) {
				happens("assess")
				return &cliv1alpha1.Report{Blocked: c.blocked, Plan: &cliv1alpha1.Plan{Hash: "sha256:shown", To: "v1.36.3", Stages: c.stages}}, nil
			},
			Show: func(*cliv1alpha1.Report) error {
				happens("show")
				return nil
			},
		})
		if (hash != "") != c.hash || (err != nil) != c.fails || !slices.Equal(c.user.events, c.events) {
			t.Errorf("%s: %q, %v, %q", situation, hash, err, c.user.events)
		}
		if asked := slices.Contains(c.events, "controllers"); asked != strings.Contains(notes.String(), "a note") {
			t.Errorf("%s: notes %q", situation, notes)
		}
	}
}
