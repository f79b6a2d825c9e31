package rehearsal

import (
	"regexp"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// cause is a recognized reason why etcd or kube-apiserver does not start. The first group of the
// pattern is the object.
type cause struct {
	reason  Reason
	pattern *regexp.Regexp
	object  string // in front of the group: "flag ", "feature gate "
	flag    string // names the object if the pattern has no group
	remedy  string
}

const (
	editArgs  = "Remove it from the ClusterConfiguration (`kubectl --namespace kube-system edit configmap kubeadm-config`) and the kubeadm patches"
	editFile  = "Correct the file on every control plane node for the target version"
	editMount = "Create the file on every control plane node, and mount it (`extraVolumes` of the ClusterConfiguration)"
)

// causes are searched in this order: the more specific first. Each pattern matches within a line.
var causes = []cause{
	{FlagUnknown, regexp.MustCompile(`unknown (?:shorthand )?flag: [^\n]*?(-{1,2}[\w-]+)`), "flag ", "", editArgs},
	{FlagUnknown, regexp.MustCompile(`flag provided but not defined: -?(-[\w-]+)`), "flag ", "", editArgs}, // etcd
	{FeatureGateUnknown, regexp.MustCompile(`unrecognized feature gate: (\w+)`), "feature gate ", "", editArgs},
	{FeatureGateLocked, regexp.MustCompile(`cannot set feature gate (\w+) to`), "feature gate ", "", editArgs},
	{
		AdmissionPluginUnknown, regexp.MustCompile(`(?:admission-plugins plugin|unknown admission plugin:) \\?"?([\w-]+)\\?"?`),
		"admission plugin ", "", editArgs,
	},
	{RuntimeConfigUnknown, regexp.MustCompile(`unknown api groups ([\w./,-]+)`), "runtime-config ", "", editArgs},
	{RuntimeConfigUnknown, regexp.MustCompile(`group version ([\w./-]+) that has not been registered`), "runtime-config ", "", editArgs},
	{RuntimeConfigUnknown, regexp.MustCompile(`runtime-config invalid key ([\w./-]+)`), "runtime-config ", "", editArgs},
	{FlagInvalid, regexp.MustCompile(`invalid argument [^\n]* for \\?"(?:-\w, )?(--[\w-]+)\\?" flag`), "flag ", "", editArgs},
	{FileMissing, regexp.MustCompile(`(?:open|stat|lstat|read) ([^\s:"]+): no such file or directory`), "", "", editMount},
	{EncryptionInvalid, regexp.MustCompile(`encryption provider configuration file \\?"([^"\\]+)\\?"`), "", "encryption-provider-config", editFile},
	{
		EncryptionInvalid, regexp.MustCompile(`error while (?:parsing file|building transformers)|encryption provider config|EncryptionConfiguration`),
		"", "encryption-provider-config", editFile,
	},
	{AuditPolicyInvalid, regexp.MustCompile(`loading audit policy file:(?:[^\n]*from file ([^\s"\\]+))?`), "", "audit-policy-file", editFile},
	{AuthenticationInvalid, regexp.MustCompile(`authentication configuration from file \\?"([^"\\]+)\\?"`), "", "authentication-config", editFile},
	{AuthenticationInvalid, regexp.MustCompile(`invalid authentication configuration|AuthenticationConfiguration`), "", "authentication-config", editFile},
	{AuthorizationInvalid, regexp.MustCompile(`AuthorizationConfiguration|authorization config|\bauthorizers\[`), "", "authorization-config", editFile},
	{AdmissionInvalid, regexp.MustCompile(`admission control configuration from \\?"([^"\\]+)\\?"`), "", "admission-control-config-file", editFile},
	{
		AdmissionInvalid, regexp.MustCompile(`(?:init|initialize) admission plugin \\?"(\w+)\\?"`),
		"admission plugin ", "admission-control-config-file", editFile,
	},
	{AdmissionInvalid, regexp.MustCompile(`failed to read plugin config|AdmissionConfiguration`), "", "admission-control-config-file", editFile},
	{CertificateInvalid, regexp.MustCompile(`error reading public key file ([^\s:]+)`), "", "", editFile},
	{
		CertificateInvalid, regexp.MustCompile(`tls: (?:failed|private key)|x509: |asn1: |PEM (?:data|block)|unable to load (?:client CA|server cert)`),
		"", "", editFile,
	},
	{FlagInvalid, regexp.MustCompile(`\B(--[a-z][a-z0-9-]+)\b`), "flag ", "", editArgs},
}

// kmsStart is the error of an API server that cannot connect to a KMS plugin. Nothing else in a
// rehearsal is reached over a socket.
var kmsStart = regexp.MustCompile(`dial unix `)

// Cause returns the finding of a server that did not start, from the end of its log. Servers of
// Kubernetes and etcd report the reason in their last lines.
func Cause(server string, m Manifest, log string) Finding {
	lines := errorLines(log)
	for _, line := range lines {
		if kmsStart.MatchString(line) {
			return Finding{Reason: KMSUnavailable, Object: server, Message: server + " does not start: " + clip(line), Remedy: kmsRemedy, Unknown: true}
		}
		for _, c := range causes {
			if found := c.pattern.FindStringSubmatch(line); found != nil {
				return c.finding(server, m, line, found)
			}
		}
	}
	f := Finding{
		Reason: StartFailed, Message: server + " does not start", Object: server,
		Remedy: "Read the end of its log, and correct the configuration of the target version",
	}
	if len(lines) > 0 {
		f.Message += ": " + clip(lines[0])
	}
	return f
}

// finding returns the finding of a line that matches the cause.
func (c cause) finding(server string, m Manifest, line string, found []string) Finding {
	f := Finding{Reason: c.reason, Message: server + " does not start: " + clip(line), Remedy: c.remedy}
	switch {
	case len(found) > 1 && found[1] != "":
		f.Object = c.object + found[1]
	case c.flag != "":
		f.Object = m.Flag(c.flag)
	}
	return f
}

// Killed is the finding of a server that others ended, or that could not start: the bounds of a
// rehearsal are not those of the cluster.
func Killed(server string, outcome sandbox.Outcome) Finding {
	f := Finding{
		Reason: Interrupted, Object: server, Unknown: true, Message: server + " ended during the rehearsal: " + outcome.String(),
		Remedy: "Rehearse again, on a control plane node with more free memory if there is one",
	}
	if outcome.Result == "oom-kill" {
		f.Reason = OutOfMemory
	}
	return f
}

// Silent is the finding of a server that runs and does not serve. Whether it would with more time
// is unknown.
func Silent(server string, report Report) Finding {
	return Finding{
		Reason: NotReady, Object: server, Unknown: report.TimedOut, Message: clip(server + " does not serve the restored data: " + report.Error),
		Remedy: "Read the end of its log, and correct the configuration of the target version",
	}
}

// MissingFile is the finding of a file that a flag names and the API server cannot read.
func MissingFile(name string) Finding {
	return Finding{Reason: FileMissing, Object: name, Message: "the API server cannot read " + name + ": no such file or directory", Remedy: editMount}
}

// klogHeader is the header of a line of klog, such as `E1116 16:00:00.000000       1 run.go:72]`.
var klogHeader = regexp.MustCompile(`^[IWEF][0-9]{4} [0-9:.]+ +[0-9]+ [\w./-]+:[0-9]+\] `)

// errorLines returns the lines that can hold a reason, the last first: those with which the process
// ended, or all errors if there are none.
func errorLines(log string) []string {
	var last, others []string
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(line)
		text := klogHeader.ReplaceAllString(line, "")
		switch {
		case text == "":
		case strings.HasPrefix(text, "Error: "), strings.Contains(text, `"command failed"`), strings.HasPrefix(line, "panic: "),
			strings.HasPrefix(text, "flag provided"), strings.Contains(text, `"level":"fatal"`):
			last = append(last, text)
		case strings.HasPrefix(line, "E"), strings.HasPrefix(line, "F"), strings.Contains(text, `"level":"error"`):
			others = append(others, text)
		}
	}
	if len(last) > 0 {
		return last
	}
	return others
}

func clip(text string) string { return refitv1alpha1.Clip(text, refitv1alpha1.MaxMessage) }
