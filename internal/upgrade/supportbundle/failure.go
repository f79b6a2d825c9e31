package supportbundle

import (
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The reasons why a part is missing.
const (
	ReasonForbidden          = "Forbidden"
	ReasonNotFound           = "NotFound"
	ReasonAPIUnreachable     = "APIUnreachable"
	ReasonReadFailed         = "ReadFailed"
	ReasonTimeout            = "Timeout"
	ReasonSizeLimit          = "SizeLimit"
	ReasonHostLimit          = "HostLimit"
	ReasonNodeUnreachable    = "NodeUnreachable"
	ReasonNoAgentImage       = "NoAgentImage"
	ReasonPodRefused         = "PodRefused"
	ReasonPodNotStarted      = "PodNotStarted"
	ReasonPodFailed          = "PodFailed"
	ReasonTransferIncomplete = "TransferIncomplete"
	ReasonNoJournal          = "NoJournal"
	ReasonInterrupted        = "Interrupted"
)

// onHost is what works on a host without the API and the kubelet.
const onHost = "Run `refit-agent support-bundle` as root on the host."

// remedies are what a user can do about each reason.
var remedies = map[string]string{
	ReasonForbidden:          "Use a kubeconfig with the permissions in docs/support-bundle.md.",
	ReasonNotFound:           "Install Refit with `refit install`, or check the name.",
	ReasonAPIUnreachable:     "Repeat the command when the API server responds, or run `refit-agent support-bundle` as root on a host.",
	ReasonReadFailed:         "Repeat the command; check the message.",
	ReasonTimeout:            "Repeat the command with a longer --timeout or --host-timeout.",
	ReasonSizeLimit:          "Repeat the command with a larger limit, or a shorter --since.",
	ReasonHostLimit:          "Name the node with --node, or raise --max-hosts.",
	ReasonNodeUnreachable:    "Repair the host. " + onHost,
	ReasonNoAgentImage:       "Install the agents with `refit install`. " + onHost,
	ReasonPodRefused:         "Update the admission policies with `refit install`. " + onHost,
	ReasonPodNotStarted:      "Check the kubelet and the image of the agent on the node. " + onHost,
	ReasonPodFailed:          "Update the agents with `refit install`. " + onHost,
	ReasonTransferIncomplete: "Repeat the command with a smaller --max-host-size. " + onHost,
	ReasonNoJournal:          "Check that systemd-journald runs on the host, and run the command as root.",
	ReasonInterrupted:        "Repeat the command.",
}

// intervention are the reasons that do not go away by themselves.
var intervention = map[string]bool{
	ReasonForbidden: true, ReasonNotFound: true, ReasonNodeUnreachable: true, ReasonNoAgentImage: true, ReasonPodRefused: true, ReasonPodFailed: true,
	ReasonSizeLimit: true, ReasonHostLimit: true, ReasonNoJournal: true,
}

// Failure is why a part is missing, as an error.
type Failure struct{ cliv1alpha1.BundleError }

func (f *Failure) Error() string { return f.Message }

// Fail returns a Failure.
func Fail(reason, format string, args ...any) *Failure {
	class := refitv1alpha1.FailureTransient
	if intervention[reason] {
		class = refitv1alpha1.FailureManualIntervention
	}
	return &Failure{cliv1alpha1.BundleError{
		Class: string(class), Reason: reason, Message: refitv1alpha1.Clip(fmt.Sprintf(format, args...), refitv1alpha1.MaxMessage), Remedy: remedies[reason],
	}}
}
