package v1alpha1

// The bounds of what controllers and agents write. The API server rejects a status that exceeds one
// of them, so writers use Clip and ClipFront. Lengths count characters, as the API server does.
const (
	// MaxActive is the maximum number of active nodes.
	MaxActive = 256
	// MaxFailures is how many failed nodes a ClusterUpgrade lists; status.nodes.failed counts them
	// all.
	MaxFailures = 16
	// MaxHops and MaxStages are how long a plan can be. An EtcdBackup can rehearse all its hops.
	MaxHops   = 5
	MaxStages = 36
	// MaxPlannedComponents is how many changes of components a plan can have.
	MaxPlannedComponents = 32
	// MaxStatusMessage is the length of an operation's status.message.
	MaxStatusMessage = 512
	// MaxWaiting is the number of entries in status.waiting, MaxWaitingMessage and
	// MaxWaitingRemedy the lengths of their texts.
	MaxWaiting        = 6
	MaxWaitingMessage = 384
	MaxWaitingRemedy  = 256
	// MaxConditionMessage and MaxNodeConditionMessage are the lengths of a condition's message in a
	// ClusterUpgrade and a NodeUpgrade.
	MaxConditionMessage     = 512
	MaxNodeConditionMessage = 128
	MaxNodeConditionReason  = 64
	// MaxMessage is the length of a failure's message, and of its remedy; also of a trial's
	// message.
	MaxMessage = 256
	// MaxLogTail is the length of the end of a log.
	MaxLogTail = 2048
	// MaxAgentVersion is the length of an agent's version.
	MaxAgentVersion = 40
	// MaxLeft is how much of what a rollback left unchanged a NodeUpgrade lists, and MaxLeftText is
	// the length of each.
	MaxLeft     = 4
	MaxLeftText = 128
	// MaxSteps is how many steps a NodeUpgrade lists.
	MaxSteps = 24
	// MaxBlockers is how many blockers a drain lists, and MaxBlockerReason is the length of why.
	// MaxBlockerObject is the length of the object of a waiver. A longer one has no waiver there.
	MaxBlockerObject = 128
	MaxBlockers      = 5
	MaxBlockerReason = 128
	// MaxBackupAttempts is how often an EtcdBackup is tried.
	MaxBackupAttempts = 3
	// MaxRehearsalFindings is how many findings all hops of a rehearsal list together, and
	// MaxRehearsalObject is the length of the object of each.
	MaxRehearsalFindings = 16
	MaxRehearsalObject   = 384
)

// Clip cuts a text to a number of characters and marks the cut with an ellipsis.
func Clip(text string, limit int) string {
	if characters := []rune(text); len(characters) > limit {
		return string(characters[:limit-1]) + "…"
	}
	return text
}

// ClipFront cuts like Clip, but keeps the end: of a log, the last lines matter.
func ClipFront(text string, limit int) string {
	if characters := []rune(text); len(characters) > limit {
		return "…" + string(characters[len(characters)-limit+1:])
	}
	return text
}
