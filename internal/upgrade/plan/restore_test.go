package plan

import (
	"slices"
)

// restoreEtcd restores the objects of the cluster as they were at an observation. Hosts keep what
// they did since, and remember which orders they accepted.
func (w *world) restoreEtcd(to *observation) {
	w.note("! etcd is restored from a backup of %s", clock(to.at))
	was := to.snapshot.Operation
	w.op.Operation = *was
	if w.op.end = ""; was.Ended {
		w.op.end = Succeeded
	}
	w.op.version++
	w.releases, w.backups = to.snapshot.Releases, to.backups
	w.restoreComponents(to)
	w.inputs++
	w.meaning++
	for _, m := range w.machines {
		then := to.snapshot.Node(m.name)
		if then == nil || then.UID != m.uid {
			m.upgrade = nil // it joined since
			continue
		}
		m.cordoned, m.cordonedBy, m.cordonedByUser = then.Unschedulable, then.CordonedBy, then.Unschedulable && then.CordonedBy == ""
		m.protectedBy = then.ProtectedBy
		m.upgrade, m.report, m.reportRequest = then.Upgrade, then.Report, then.ReportRequest
		m.nodeVersion = then.Kubelet
		m.version++
		m.upgradeVersion++
	}
	w.past = nil
	w.restored = true
	w.record(w.observe())
}

// raiseEpoch raises the epoch of a leader above what agents report to have accepted.
func (w *world) raiseEpoch(leader *controller) {
	if leader.epoch != w.op.Epoch || w.highestEpoch() <= leader.epoch || w.op.Ended {
		return
	}
	w.op.Epoch = w.highestEpoch() + 1
	w.op.version++
	leader.epoch = w.op.Epoch
}

// etcdRestored restores a backup that is older than any report that a decision relies on.
func (c *controllers) etcdRestored(w *world) bool {
	at := slices.IndexFunc(w.past, func(o *observation) bool { return w.now.Sub(o.at) > grace })
	if at < 0 || w.op.Ended || w.past[at].snapshot.Operation.Plan == nil || w.past[at].snapshot.Operation.Ended || w.past[at].snapshot.Operation.Spec.Retry != w.op.Spec.Retry {
		return false
	}
	w.restoreEtcd(w.past[at])
	c.leader, c.deposed, c.lag = w.takeOver("a new leader"), nil, 0
	return true
}

var restoreStories = []story{
	restoredStory("etcd-restored", "etcd is restored from a backup that was taken before worker-1 was ordered to change. Its agent refuses the order "+
		"of the past, and the operation stalls with the reason until the user retries.", Succeeded, func(t *storyRun) { t.retry() }),
	restoredStory("etcd-restored-abort", "The same, and the user aborts: the agent has finished its host, which keeps the new version.", Aborted, func(t *storyRun) { t.abort() }),
	{
		name: "objects-deleted",
		summary: "Every object of Refit was deleted, and Refit is installed again. Hosts remember the epochs of former leaders; the new one starts above them, " +
			"also for a host whose agent reports later.",
		scenario: minor(shape(1, 2)), ends: Succeeded,
		before: func(w *world) {
			for _, m := range w.machines {
				m.agent.memory.Sequence, m.agent.memory.Epoch = 12, 7
				m.writeReport(w)
			}
			w.machine("worker-2").report.AcceptedEpoch = 0
			w.machine("worker-2").agent.memory.Epoch = 40
		},
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) { t.retry() }}},
	},
}

func restoredStory(name, summary string, ends State, then func(*storyRun)) story {
	var backup *observation
	return story{
		name: name, summary: summary, scenario: minor(shape(1, 2)), ends: ends,
		script: []scriptEvent{
			{claimed("worker-1"), func(t *storyRun) { backup = t.observe() }},
			{applying("worker-1"), func(t *storyRun) {
				t.restoreEtcd(backup)
				t.leader = t.takeOver("Refit")
			}},
			{later(5, is(Stalled)), then},
		},
	}
}
