package text

import (
	"fmt"
	"strings"

	"github.com/refit-dev/refit/cmd/refit/output"
	"github.com/refit-dev/refit/internal/engine/install"
)

// gutter is where the facts of a page about Refit itself begin.
const gutter = 12

// mostFields is how many fields of an object are named in a line.
const mostFields = 4

// Install writes what an install did, or would do.
func Install(i *output.Install, p Page, program string) string {
	w := newWriter(p)
	head := fmt.Sprintf("Refit %s in %s", i.Version, i.Cluster)
	if i.Former != "" && i.Former != i.Version {
		head += fmt.Sprintf(" (%s before)", i.Former)
	}
	if i.DryRun {
		head += ", as it would be"
	}
	w.para(0, as(bold, head))
	w.blank()
	w.fact("Objects", fmt.Sprintf("%s: %s", number(len(i.Objects)), actions(i.Objects)))
	w.fact("Images", i.AgentImage)
	if i.ControllerImage != "" {
		w.fact("", i.ControllerImage)
	}
	for n, key := range i.Keys {
		w.fact([]string{"Keys", ""}[min(n, 1)], key)
	}
	if i.DryRun {
		w.becomes(i.Objects, p.Wide)
		w.section("Next")
		w.para(2, as(plain, "Nothing has been changed. Without --dry-run it is done."))
		return w.String()
	}
	w.hosts("Agents", "on", i.Nodes, install.Done)
	w.controller(i)
	w.late(i)
	w.section("Next")
	if !i.Complete {
		w.para(2, as(plain, "What is late goes on by itself. To see how far it is, and to wait for the rest, do the same again."))
		return w.String()
	}
	w.para(2, as(plain, "See what the agents tell of their hosts, and what stands in the way of an upgrade:"))
	w.command("kubectl get nodereports -o wide")
	w.command(program + " check --to VERSION")
	return w.String()
}

func (w *writer) fact(name, what string) { w.hang(name, plain, gutter, as(plain, what)) }

// actions counts what became of objects, the weightiest first.
func actions(objects []output.Object) string {
	words := []struct {
		action install.Action
		says   string
	}{
		{install.Created, "created"},
		{install.Changed, "changed"},
		{install.Removed, "removed"},
		{install.Left, "left alone"},
		{install.Unchanged, "unchanged"},
	}
	var out []string
	for _, word := range words {
		if n := having(objects, word.action); n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, word.says))
		}
	}
	return sentence(out)
}

func having(objects []output.Object, action install.Action) (n int) {
	for i := range objects {
		if objects[i].Action == string(action) {
			n++
		}
	}
	return n
}

// becomes lists what would become of objects. Those that stay as they are come only where everything is asked for.
func (w *writer) becomes(objects []output.Object, wide bool) {
	w.section("Objects")
	told := 0
	for i := range objects {
		o := &objects[i]
		if o.Action == string(install.Unchanged) && !wide {
			continue
		}
		told++
		w.hang("  "+strings.ToLower(o.Action), plain, gutter, as(plain, objectName(o)))
		if more := aside(o, wide); more != "" {
			w.para(gutter+2, as(dim, more))
		}
	}
	if told == 0 {
		w.para(2, as(plain, "All are as they should be."))
	}
}

func objectName(o *output.Object) string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

func aside(o *output.Object, wide bool) string {
	switch {
	case o.Unchecked:
		return "the server has not looked at it: its namespace is not there yet"
	case o.Action == string(install.Left):
		return "it has no label of Refit's, so it stays"
	case len(o.Fields) > mostFields && !wide:
		return fmt.Sprintf("%s and %d more", strings.Join(o.Fields[:mostFields], ", "), len(o.Fields)-mostFields)
	}
	return strings.Join(o.Fields, ", ")
}

// hosts counts the nodes that are in a state.
func (w *writer) hosts(name, where string, nodes []output.HostState, state install.State) {
	done, away := 0, 0
	for i := range nodes {
		if nodes[i].State == string(state) {
			done++
		}
		if nodes[i].State == string(install.Away) {
			away++
		}
	}
	said := fmt.Sprintf("%s %s of %s", where, number(done), count(len(nodes), "node"))
	if away > 0 {
		said += fmt.Sprintf("; %d not ready", away)
	}
	w.fact(name, said)
}

func (w *writer) controller(i *output.Install) {
	switch {
	case i.Standalone:
		w.fact("Controller", "none: standalone, the controllers run with the command")
	case i.Controller != nil:
		w.fact("Controller", fmt.Sprintf("%d of %s", i.Controller.Available, count(i.Controller.Wanted, "replica")))
	}
}

// mostLate is how many nodes are named that are late.
const mostLate = 20

// late names who is not done, and why.
func (w *writer) late(i *output.Install) {
	var rows []row
	for _, n := range i.Nodes {
		if n.State != string(install.Done) {
			rows = append(rows, row{indent: 2, name: n.Node, time: State(n.State, "placed"), body: []run{as(plain, n.Why)}})
		}
	}
	if i.Controller != nil && i.Controller.Available < i.Controller.Wanted {
		for _, p := range i.Controller.Pods {
			if p.State != string(install.Done) {
				rows = append(rows, row{indent: 2, name: p.Pod, time: State(p.State, "running"), body: []run{as(plain, p.Why)}})
			}
		}
	}
	w.rows("Late", rows)
}

func (w *writer) rows(title string, rows []row) {
	if len(rows) == 0 {
		return
	}
	w.section(title)
	t := &table{rows: rows[:min(len(rows), mostLate)]}
	if more := len(rows) - mostLate; more > 0 {
		t.line(2, as(plain, fmt.Sprintf("and %s more", number(more))))
	}
	t.write(w)
}

// State says in a word or two how far a host or a pod is; done is the word for one that is.
func State(state, done string) string {
	switch install.State(state) {
	case install.Waiting:
		return "no pod yet"
	case install.Pulling:
		return "pulling"
	case install.Working:
		return "at work"
	case install.Done:
		return done
	case install.Failing:
		return "failing"
	case install.Away:
		return "not ready"
	}
	return state
}
