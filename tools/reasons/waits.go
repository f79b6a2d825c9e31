package main

import (
	"go/ast"
	"strings"
)

// wait is a reason for which an operation waits or stalls.
type wait struct {
	reason, meaning string
	remedies        []string
}

// more has remedies that the planner does not write: of reasons that stand for entries of another
// section, and of those that end without an intervention.
var more = map[string]string{
	"Blocked":          "Fix the finding that the message names: see [Preflight checks](#preflight-checks)",
	"NodeFailed":       "Fix the cause that `refit explain NODE` prints: see [Failures on a host](#failures-on-a-host)",
	"Aborting":         "Wait: active nodes reach a safe state. If a host does not come back, run `refit abandon NODE`",
	"ComponentFailed":  "Fix the cause that `refit components explain NAME` prints, then run `refit retry`",
	"ComponentWaiting": "Wait: refit-components changes one component at a time. Its log: `kubectl -n refit-components logs deployment/refit-components`",
	"OlderOperation":   "Wait until it ends, or end it: `refit abort NAME`",
	"Progressing":      "No action is required. `refit watch` follows the upgrade",
	"TrialRunning":     "No action is required. `refit watch` follows the upgrade",
	"WindowClosed": "No action is required: the message has the next opening. " +
		"An approver can open the window for one upgrade: set openUntil in its spec, `kubectl edit clusterupgrade NAME`",
	"WindowTooShort": "Make an opening longer, or set controlPlane of the MaintenanceWindow to NodeByNode: `kubectl edit maintenancewindow NAME`",
}

// waits returns the reasons for which an operation waits, with the meaning from the API and the
// remedies from the planner.
func (s *source) waits() []wait {
	remedies := map[string][]string{}
	for _, name := range []string{"plan", "assess"} {
		p := s.byName[name]
		p.functions(func(f *ast.FuncDecl) { p.addWaits(f, remedies) })
	}
	api := s.byName["v1alpha1"]
	var out []wait
	for _, name := range sortedKeys(remedies) {
		if _, isConstant := api.constants[name]; !isConstant {
			continue // a copy of another reason: refusal.Reason
		}
		w := wait{reason: scope{pkg: api}.text(api.constants[name]), remedies: unique(remedies[name])}
		_, w.meaning, _ = strings.Cut(api.comments[name], ": ")
		if other, ok := more[w.reason]; ok {
			w.remedies = unique(append(w.remedies, other))
		}
		out = append(out, w)
	}
	return out
}

// addWaits adds the remedies of a function by the name of their reason: those of literals, and
// those that a block sets later.
func (p *pkg) addWaits(f *ast.FuncDecl, remedies map[string][]string) {
	first := ""
	add := func(fields map[string]ast.Expr) {
		reason := lastName(fields["Reason"])
		if !strings.HasPrefix(reason, "Reason") {
			reason = first
		}
		if reason == "" {
			return
		}
		if first == "" {
			first = reason
		}
		remedies[reason] = append(remedies[reason], scope{pkg: p, function: f}.written(fields["Remedy"])...)
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if fields := fieldsOf(n); fields["Reason"] != nil {
				add(fields)
			}
		case *ast.BlockStmt:
			if fields := assignedIn(n); fields["Reason"] != nil || fields["Remedy"] != nil {
				defer add(fields)
			}
		}
		return true
	})
}

// written returns a text that is written in the code, as a list of one, or nothing.
func (s scope) written(e ast.Expr) []string {
	if e == nil || !s.pkg.isText(e) {
		return nil
	}
	return []string{s.text(e)}
}

// assignedIn returns the values that the statements of a block assign to fields.
func assignedIn(block *ast.BlockStmt) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	for _, statement := range block.List {
		a, ok := statement.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		for i := range a.Lhs {
			if selector, ok := a.Lhs[i].(*ast.SelectorExpr); ok {
				fields[selector.Sel.Name] = a.Rhs[i]
			}
		}
	}
	return fields
}
