package text

import (
	"fmt"
	"slices"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// gutter is the column of the values on a page about Refit itself.
const gutter = 12

// mostFields is the number of fields of an object that a line lists.
const mostFields = 4

// Install renders the result of `refit install`.
func Install(i *cliv1alpha1.Install, p Page, command string) string {
	w := newWriter(p)
	head := fmt.Sprintf("Refit %s in %s", i.Version, i.Cluster)
	if i.Former != "" && i.Former != i.Version {
		head += fmt.Sprintf(" (%s before)", i.Former)
	}
	if i.DryRun {
		head += " (dry run)"
	}
	w.para(0, as(bold, head))
	w.blank()
	w.fact("Objects", fmt.Sprintf("%s: %s", phrase.Number(len(i.Objects)), actions(i.Objects)))
	w.fact("Images", i.AgentImage)
	if i.ControllerImage != "" {
		w.fact("", i.ControllerImage)
	}
	if i.ComponentsImage != "" {
		w.fact("", i.ComponentsImage)
	}
	for n, key := range i.Keys {
		w.fact([]string{"Keys", ""}[min(n, 1)], key)
	}
	if i.NewKey != nil {
		w.fact("", fmt.Sprintf("New key in %s: hosts install only what it signed. Store a copy in a safe place.", i.NewKey.PrivateKey))
	}
	w.installedBackups(i.Backups)
	if i.DryRun {
		w.becomes(i.Objects, p.Wide)
		w.section("Next steps")
		w.para(2, as(plain, "Nothing has been changed. Run the command without --dry-run to install."))
		return w.String()
	}
	w.agents(i)
	w.controller(i)
	w.late(i)
	w.section("Next steps")
	if !i.Complete {
		w.para(2, as(plain, "The rest continues in the background. Run the same command again to wait for it."))
		return w.String()
	}
	w.para(2, as(plain, "Show the reports of the agents, and check whether the cluster can be upgraded:"))
	w.command("kubectl get nodereports -o wide")
	w.command(command + " check --to VERSION")
	if i.Backups != nil {
		w.para(2, as(plain, "Take a backup of etcd:"))
		w.command(command + " backup create")
	}
	if i.ComponentsImage != "" {
		w.para(2, as(plain, "List the components, once a ClusterRelease that has some was added:"))
		w.command(command + " release add VERSION --components FILE")
		w.command(command + " components list")
	}
	return w.String()
}

// installedBackups writes where backups are and who can read them.
func (w *writer) installedBackups(b *cliv1alpha1.InstallBackups) {
	if b == nil {
		return
	}
	w.fact("Backups", fmt.Sprintf("BackupStore %s: %s on control plane hosts; each backup is on the host that takes it", b.Store, b.Directory))
	switch {
	case b.Created:
		w.fact("", fmt.Sprintf("New identity in %s: store it in a safe place. Without it, nobody can read the backups.", b.Identity))
	case b.Identity != "":
		w.fact("", "Identity in "+b.Identity)
	}
}

func (w *writer) fact(name, what string) { w.hang(name, plain, gutter, as(plain, what)) }

// actions counts the changes to objects, by their action.
func actions(objects []cliv1alpha1.Object) string {
	var out []string
	for _, action := range []string{
		cliv1alpha1.ActionCreated, cliv1alpha1.ActionChanged, cliv1alpha1.ActionRemoved, cliv1alpha1.ActionLeft, cliv1alpha1.ActionUnchanged,
	} {
		if n := having(objects, action); n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, actionWord(action)))
		}
	}
	return phrase.List(out)
}

// actionWord is the word for an action on an object.
func actionWord(action string) string {
	if action == cliv1alpha1.ActionLeft {
		return "kept"
	}
	return strings.ToLower(action)
}

func having(objects []cliv1alpha1.Object, action string) (n int) {
	for i := range objects {
		if objects[i].Action == action {
			n++
		}
	}
	return n
}

// becomes lists the changes to objects. Unchanged ones are listed only with wide.
func (w *writer) becomes(objects []cliv1alpha1.Object, wide bool) {
	w.section("Objects")
	listed := 0
	for i := range objects {
		o := &objects[i]
		if o.Action == cliv1alpha1.ActionUnchanged && !wide {
			continue
		}
		listed++
		w.hang("  "+actionWord(o.Action), plain, gutter, as(plain, objectName(o)))
		if more := aside(o, wide); more != "" {
			w.para(gutter+2, as(dim, more))
		}
	}
	if listed == 0 {
		w.para(2, as(plain, "All objects are up to date."))
	}
}

func objectName(o *cliv1alpha1.Object) string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

func aside(o *cliv1alpha1.Object, wide bool) string {
	switch {
	case o.Unchecked:
		return "not checked by the API server: its namespace does not exist yet"
	case o.Action == cliv1alpha1.ActionLeft:
		return "it does not have Refit's label"
	case len(o.Fields) > mostFields && !wide:
		return fmt.Sprintf("%s and %d more", strings.Join(o.Fields[:mostFields], ", "), len(o.Fields)-mostFields)
	}
	return strings.Join(o.Fields, ", ")
}

// agents counts the nodes with an agent. An install over an earlier one only knows which agents it
// has updated: the others keep running on their hosts.
func (w *writer) agents(i *cliv1alpha1.Install) {
	if i.Former == "" || !slices.ContainsFunc(i.Nodes, func(n cliv1alpha1.HostState) bool { return n.State != cliv1alpha1.HostDone }) {
		w.hosts("Agents", "on", i.Nodes, cliv1alpha1.HostDone)
		return
	}
	w.hosts("Agents", "up to date on", i.Nodes, cliv1alpha1.HostDone)
	w.fact("", "The other nodes keep the agents of the earlier install.")
}

// hosts counts the nodes in a state.
func (w *writer) hosts(name, where string, nodes []cliv1alpha1.HostState, state string) {
	done, notReady := 0, 0
	for i := range nodes {
		if nodes[i].State == state {
			done++
		}
		if nodes[i].State == cliv1alpha1.HostUnreachable {
			notReady++
		}
	}
	count := fmt.Sprintf("%s %s of %s", where, phrase.Number(done), phrase.Count(len(nodes), "node"))
	if notReady > 0 {
		count += fmt.Sprintf("; %d not ready", notReady)
	}
	w.fact(name, count)
}

func (w *writer) controller(i *cliv1alpha1.Install) {
	switch {
	case i.Standalone:
		w.fact("Controller", "none (standalone: the upgrade command runs it)")
	case i.Controller != nil:
		w.fact("Controller", replicas(i.Controller))
	}
	if i.Components != nil {
		w.fact("Components", replicas(i.Components)+", with all permissions in the cluster")
	}
}

// replicas counts the available replicas of a Deployment.
func replicas(c *cliv1alpha1.ControllerState) string {
	return fmt.Sprintf("%d of %s", c.Available, phrase.Count(c.Wanted, "replica"))
}

// mostLate is the number of late nodes that are listed.
const mostLate = 20

// late lists the nodes and pods that are not done, and why.
func (w *writer) late(i *cliv1alpha1.Install) {
	var rows []row
	for _, n := range i.Nodes {
		if n.State != cliv1alpha1.HostDone {
			rows = append(rows, row{indent: 2, name: n.Node, time: State(n.State, "installed"), body: []run{as(plain, n.Why)}})
		}
	}
	for _, c := range []*cliv1alpha1.ControllerState{i.Controller, i.Components} {
		if c == nil || c.Available >= c.Wanted {
			continue
		}
		for _, p := range c.Pods {
			if p.State != cliv1alpha1.HostDone {
				rows = append(rows, row{indent: 2, name: p.Pod, time: State(p.State, "running"), body: []run{as(plain, p.Why)}})
			}
		}
	}
	w.rows("Pending", rows)
}

func (w *writer) rows(title string, rows []row) {
	if len(rows) == 0 {
		return
	}
	w.section(title)
	t := &table{rows: rows[:min(len(rows), mostLate)]}
	if more := len(rows) - mostLate; more > 0 {
		t.line(2, as(plain, fmt.Sprintf("and %s more", phrase.Number(more))))
	}
	t.write(w)
}

// State is the state of a host or a pod in a word or two; done is the word for one that is done.
func State(state, done string) string {
	switch state {
	case cliv1alpha1.HostWaiting:
		return "no pod yet"
	case cliv1alpha1.HostPulling:
		return "pulling"
	case cliv1alpha1.HostWorking:
		return "in progress"
	case cliv1alpha1.HostDone:
		return done
	case cliv1alpha1.HostFailing:
		return "failing"
	case cliv1alpha1.HostUnreachable:
		return "not ready"
	}
	return state
}
