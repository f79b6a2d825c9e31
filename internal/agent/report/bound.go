package report

import (
	"maps"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The limits of a NodeReport: the API rejects a report that exceeds any of them.
const (
	maxAgentVersion = 40
	maxKeys         = 8
	maxKey          = 80
	maxHeld         = 16
	maxWord         = 64
	maxPaths        = 8
	maxPath         = 128
	maxAddresses    = 32
	maxAddress      = 45
	maxVirtualIPs   = 4
	maxFlags        = 64
	maxGates        = 32
	maxFields       = 96
	maxDisks        = 8
	maxCertificates = 24
	maxDifferences  = 10
	maxDifference   = 160
	maxSettings     = 24
	maxSetting      = 96
	maxManifests    = 8
	maxImages       = 16
	maxImage        = 255
	maxOS           = 128
	maxKernel       = 96
	maxName         = 253
	maxParts        = 8
	maxPartFiles    = 24
	maxPartFile     = 32
	maxMembers      = 16
	maxExternal     = 9
	maxProblem      = 128
	maxAlarms       = 4
	maxAlarm        = 32
	maxTruncated    = 24 // more than there are lists
)

// cutter records what was truncated.
type cutter struct{ names []string }

// bound truncates every list and string to the limits of the API, and all of them together to the
// size of a NodeReport. It records the truncated lists.
func bound(s *refitv1alpha1.NodeReportStatus, node string) {
	c := &cutter{}
	c.limit(s)
	c.fit(s, maxReport-objectOverhead-2*len(node))
}

// limit truncates every list and string.
func (c *cutter) limit(s *refitv1alpha1.NodeReportStatus) {
	s.ReleaseKeys = c.texts("releaseKeys", s.ReleaseKeys, maxKeys, maxKey)
	s.OS, s.Kernel, s.Hostname = clip(s.OS, maxOS), clip(s.Kernel, maxKernel), clip(s.Hostname, maxName)
	s.HeldPackages = c.texts("heldPackages", s.HeldPackages, maxHeld, maxWord)
	s.ReadOnlyPaths = c.texts("readOnlyPaths", s.ReadOnlyPaths, maxPaths, maxPath)
	s.Addresses = c.texts("addresses", s.Addresses, maxAddresses, maxAddress)
	s.VirtualIPs = cut(c, "virtualIPs", s.VirtualIPs, maxVirtualIPs)
	for i := range s.VirtualIPs {
		c.text("virtualIPs", &s.VirtualIPs[i].Address, maxPath)
	}
	s.MissingImages = c.texts("missingImages", s.MissingImages, maxImages, maxImage)
	s.Disks = cut(c, "disks", s.Disks, maxDisks)
	s.Certificates = cut(c, "certificates", s.Certificates, maxCertificates)
	s.Parts = c.parts("parts", s.Parts)
	for i := range s.Disks {
		c.text("disks", &s.Disks[i].Path, maxPath)
	}
	for i := range s.Certificates {
		c.text("certificates", &s.Certificates[i].Name, maxWord)
	}
	for i := range s.ServiceWrappers {
		c.text("serviceWrappers", &s.ServiceWrappers[i].Path, maxPath)
	}
	v := &s.Versions
	for _, text := range []*string{&v.Kubelet, &v.KubeletOnDisk, &v.Kubeadm, &v.Containerd, &v.Runc, &v.CNIPlugins} {
		*text = clip(*text, maxWord)
	}
	if k := s.Kubelet; k != nil {
		k.ConfigFile = clip(k.ConfigFile, maxPath)
		k.Flags = c.texts("kubelet.flags", k.Flags, maxFlags, maxWord)
		k.ConfigFields = c.texts("kubelet.configFields", k.ConfigFields, maxFields, maxWord)
		k.FeatureGates = c.gates("kubelet.featureGates", k.FeatureGates)
	}
	if d := s.Drift; d != nil {
		d.Differences = c.texts("drift.differences", d.Differences, maxDifferences, maxDifference)
		d.SecuritySettings = c.texts("drift.securitySettings", d.SecuritySettings, maxSettings, maxSetting)
		d.MissingManifests = c.texts("drift.missingManifests", d.MissingManifests, maxManifests, maxWord)
		d.UnparsableManifests = c.texts("drift.unparsableManifests", d.UnparsableManifests, maxManifests, maxWord)
		d.APIReferences = c.texts("drift.apiReferences", d.APIReferences, maxManifests, maxPath)
	}
	if s.CRI != nil {
		s.CRI.Runtime = clip(s.CRI.Runtime, maxWord)
	}
	if s.APIServer != nil {
		s.APIServer.Version = clip(s.APIServer.Version, maxWord)
	}
	if e := s.Etcd; e != nil {
		e.Name, e.Version = clip(e.Name, maxName), clip(e.Version, maxWord)
		e.Members = c.texts("etcd.members", e.Members, maxMembers, maxName)
		e.Alarms = c.texts("etcd.alarms", e.Alarms, maxAlarms, maxAlarm)
	}
	if e := s.ExternalEtcd; e != nil {
		e.Members = slices.Clone(cut(c, "externalEtcd.members", e.Members, maxExternal))
		for i := range e.Members {
			m := &e.Members[i]
			m.Name, m.Version, m.Problem = clip(m.Name, maxName), clip(m.Version, maxWord), clip(m.Problem, maxProblem)
		}
		e.Alarms = c.texts("externalEtcd.alarms", e.Alarms, maxAlarms, maxAlarm)
	}
}

// record records a list, once.
func (c *cutter) record(name string) {
	if !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
	}
}

func cut[T any](c *cutter, name string, list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	c.record(name)
	return list[:most]
}

// texts truncates the list and its strings.
func (c *cutter) texts(name string, list []string, most, length int) []string {
	list = slices.Clone(cut(c, name, list, most))
	for i := range list {
		c.text(name, &list[i], length)
	}
	return list
}

// text truncates a string of a list. A truncated string has another meaning, so the list counts as
// incomplete, too.
func (c *cutter) text(name string, text *string, length int) {
	if clipped := clip(*text, length); clipped != *text {
		*text = clipped
		c.record(name)
	}
}

// parts drops a part whose package has too long a name: a truncated name is that of another
// package.
func (c *cutter) parts(name string, parts []refitv1alpha1.PartFacts) []refitv1alpha1.PartFacts {
	kept := slices.DeleteFunc(slices.Clone(parts), func(p refitv1alpha1.PartFacts) bool { return len([]rune(p.Package)) > maxWord })
	if len(kept) < len(parts) {
		c.record(name)
	}
	for i := range kept {
		if len(kept[i].Files) > 0 {
			kept[i].Files = c.texts(name, kept[i].Files, maxPartFiles, maxPartFile)
		}
	}
	return cut(c, name, kept, maxParts)
}

func (c *cutter) gates(name string, gates map[string]bool) map[string]bool {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(gates)), func(gate string) bool { return len([]rune(gate)) > maxWord })
	if len(names) == len(gates) && len(names) <= maxGates {
		return gates
	}
	c.record(name)
	kept := map[string]bool{}
	for _, gate := range names[:min(len(names), maxGates)] {
		kept[gate] = gates[gate]
	}
	return kept
}

func clip(text string, most int) string { return refitv1alpha1.Clip(text, most) }
