package main

import (
	"go/ast"
	"strings"
)

// refusal is a reason to reject an order.
type refusal struct {
	reason, message string
}

// refusalRemedies has the remedy of each reason. The code has none, since the agent rejects an
// order for the controller, not for a user.
var refusalRemedies = map[string]string{
	"Downgrade":     "Start an upgrade to the version of the host or a later one: `refit abort`, then `refit upgrade --to VERSION`",
	"FormatUnknown": "Upgrade the agents to the version of the controller: `refit install`",
	"NotJudged":     "Wait: the agent retries. If the message stays, read its log on the host: `journalctl -u refit-agent`",
	"NumberTooHigh": "Check the clock of the host: `timedatectl status`. If it is right, find out who wrote the order, then run " +
		"`kubectl delete nodeupgrades.refit.dev NAME; refit retry`",
	"OtherMachine": "If the machine of the node was replaced, recreate its report: `kubectl delete nodereports.refit.dev NAME`, on the host " +
		"`systemctl restart refit-agent`, then `refit retry`",
	"ReleaseRefused": "Sign the ClusterRelease with a key that is pinned on the host (`refit release sign`), or pin its key: " +
		"`refit install --release-key FILE`; then run `refit retry`",
	"StaleEpoch":        "Wait: the leader writes a newer order. After a restore of etcd, check the operation (`refit status`), then run `refit retry`",
	"StaleSequence":     "Wait: the controller writes a newer order. After a restore of etcd, check the operation (`refit status`), then run `refit retry`",
	"UpgradeInProgress": "Finish that upgrade (`refit retry`) or roll it back: on the host, run `refit-agent status`, then `refit-agent undo`",
}

// refusals returns the reasons for which agents reject orders: literals of Refusal, and calls with
// a constant such as RefusedEpoch and a format.
func (s *source) refusals() []refusal {
	var out []refusal
	for _, p := range s.packages {
		p.functions(func(f *ast.FuncDecl) {
			here := scope{pkg: p, function: f}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if found, ok := here.refusal(n); ok {
					out = append(out, found)
				}
				return true
			})
		})
	}
	return out
}

func (s scope) refusal(n ast.Node) (refusal, bool) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		fields := fieldsOf(n)
		if lastName(n.Type) == "Refusal" && fields["Reason"] != nil && fields["Message"] != nil {
			return refusal{s.text(fields["Reason"]), s.text(fields["Message"])}, true
		}
	case *ast.CallExpr:
		if len(n.Args) > 1 && strings.HasPrefix(lastName(n.Args[0]), "Refused") {
			return refusal{s.text(n.Args[0]), s.format(n.Args[1], n.Args[2:])}, true
		}
	}
	return refusal{}, false
}
