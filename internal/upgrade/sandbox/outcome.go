package sandbox

import "fmt"

// Outcome is the state of a unit that was started.
type Outcome struct {
	Ended bool
	// Result is success, exit-code, signal, timeout, oom-kill or another word of systemd, or
	// Stopped.
	Result     string
	ExitStatus int // the number of the signal if Result is signal
	// PeakMemory is the highest memory use, or the current one if the host reports no other.
	PeakMemory uint64
}

// Stopped is the Result of a unit that others stopped.
const Stopped = "stopped"

const (
	// sigkill is the signal of the kernel that runs out of memory. With cgroup v1, systemd reports
	// it as any other signal.
	sigkill = 9
	// firstSetupStatus is the lowest exit status of systemd itself: it could not start the process.
	firstSetupStatus = 200
)

// Failed reports whether the process ended without success.
func (o Outcome) Failed() bool { return o.Ended && o.Result != "success" }

// FailedItself reports whether the process has ended for a reason of its own, such as invalid
// input. Any other end proves nothing about its input: it was killed, or never ran.
func (o Outcome) FailedItself() bool {
	switch o.Result {
	case "exit-code":
		return o.Ended && o.ExitStatus < firstSetupStatus
	case "signal":
		return o.Ended && o.ExitStatus != sigkill
	}
	return o.Ended && o.Result == "core-dump"
}

func (o Outcome) String() string {
	switch {
	case !o.Ended:
		return "it runs"
	case o.Result == "exit-code" && o.ExitStatus >= firstSetupStatus:
		return fmt.Sprintf("systemd could not start it (status %d)", o.ExitStatus)
	case o.Result == "exit-code":
		return fmt.Sprintf("exit status %d", o.ExitStatus)
	case o.Result == "oom-kill":
		return "it was killed because it exceeded its memory bound"
	case o.Result == "signal" && o.ExitStatus == sigkill:
		return "it was killed, as it is if it exceeds its memory bound"
	case o.Result == "timeout":
		return "it was stopped because it exceeded its time bound"
	case o.Result == Stopped:
		return "it was stopped"
	default:
		return "result " + o.Result
	}
}
