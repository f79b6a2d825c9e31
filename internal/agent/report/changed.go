package report

import (
	"bytes"
	"encoding/json"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Changed reports whether two reports differ in a discrete fact. Gauges change all the time, and
// thousands of hosts would write on each change.
func Changed(a, b refitv1alpha1.NodeReportStatus) bool {
	return !bytes.Equal(discrete(a), discrete(b))
}

// discrete returns a report without gauges, time and request number.
func discrete(s refitv1alpha1.NodeReportStatus) []byte {
	s = *s.DeepCopy()
	s.Answered, s.ObservedTime, s.ClockOffsetMilliseconds = 0, nil, nil
	for i := range s.Disks {
		s.Disks[i].FreeMiB, s.Disks[i].FreeInodesPercent = 0, nil
	}
	if s.Etcd != nil {
		s.Etcd.DBSizeMiB = 0
	}
	if e := s.ExternalEtcd; e != nil {
		e.DBSizeMiB = 0
		for i := range e.Members {
			e.Members[i].Problem = "" // its text varies
		}
	}
	text, _ := json.Marshal(s) // never fails for these types
	return text
}
