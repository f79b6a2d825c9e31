package report

import (
	"bytes"
	"encoding/json"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Changed says whether two reports differ in a discrete fact. Gauges move all the time, and thousands of hosts would write each time.
func Changed(a, b refitv1alpha1.NodeReportStatus) bool {
	return !bytes.Equal(discrete(a), discrete(b))
}

// discrete is a report without its gauges and without when it was made, and for which question.
func discrete(s refitv1alpha1.NodeReportStatus) []byte {
	s = *s.DeepCopy()
	s.Answered, s.ObservedTime, s.ClockOffsetMilliseconds = 0, nil, nil
	for i := range s.Disks {
		s.Disks[i].FreeMiB, s.Disks[i].FreeInodesPercent = 0, nil
	}
	if s.Etcd != nil {
		s.Etcd.DBSizeMiB = 0
	}
	text, _ := json.Marshal(s) // these types always can
	return text
}
