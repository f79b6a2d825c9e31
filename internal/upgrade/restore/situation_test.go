package restore

import (
	"slices"
	"testing"
	"time"
)

var now = time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)

// lost returns an observation of a cluster whose members have lost their data.
func lost(members int, change ...func(*Observation)) Observation {
	o := Observation{
		Now: now, Run: NewRun(now),
		Backup: Backup{
			ID: "u/1", ClusterUID: "c", Time: now.Add(-time.Hour), EtcdVersion: "3.6.6", Revision: 100, Size: 1 << 20, CAs: []string{"ca"}, Recorded: true,
		},
		Host: Host{Member: "cp-1", PeerURL: "https://10.0.0.1:2380", EtcdVersion: "3.6.6", CAs: []string{"ca"}, Free: 10 << 30},
	}
	for _, m := range []Member{
		{Name: "cp-3", PeerURLs: []string{"https://10.0.0.3:2380"}},
		{Name: "cp-1", PeerURLs: []string{"https://10.0.0.1:2380"}},
		{Name: "cp-2", PeerURLs: []string{"https://10.0.0.2:2380"}},
	} {
		if members == 3 || m.Name == "cp-1" {
			o.Backup.Members = append(o.Backup.Members, m)
		}
	}
	for _, f := range change {
		f(&o)
	}
	return o
}

func serves(o *Observation) { o.Etcd.Serves, o.Etcd.APIServer = true, true }
func others(o *Observation) { o.Etcd.Others = true }

func TestSituation(t *testing.T) {
	for name, tt := range map[string]struct {
		o    Observation
		want Situation
	}{
		"the only member has lost its data":                    {lost(1), Single},
		"the only member serves":                               {lost(1, serves), Single},
		"all members have lost their data":                     {lost(3), All},
		"all members serve":                                    {lost(3, serves, others), All},
		"one member has lost its data and the others serve":    {lost(3, others), Replace},
		"this member serves and the others cannot be reached":  {lost(3, serves), All},
		"the backup is older than the others and they serve":   {lost(3, others, func(o *Observation) { o.Backup.Time = now.Add(-24 * time.Hour) }), Replace},
		"the data is there, and only the quorum is lost":       {lost(3, func(o *Observation) { o.Etcd.Data = true }), All},
		"the data is there, but the others go on without this": {lost(3, others, func(o *Observation) { o.Etcd.Data = true }), Replace},
	} {
		if d := Decide(tt.o); d.Situation != tt.want {
			t.Errorf("%s: %s, want %s", name, d.Situation, tt.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		o    Observation
		want []string
	}{
		"nothing":                       {lost(1), nil},
		"nothing, with three":           {lost(3), nil},
		"etcd serves":                   {lost(1, serves), []string{EtcdServes}},
		"etcd serves, waived by name":   {lost(1, serves, func(o *Observation) { o.Waived = []string{EtcdServes} }), nil},
		"a backup of another cluster":   {lost(1, func(o *Observation) { o.Host.ClusterUIDs = []string{"other"} }), []string{"OtherCluster"}},
		"a backup with another CA":      {lost(1, func(o *Observation) { o.Backup.CAs = []string{"other"} }), []string{"OtherCluster"}},
		"the CA of the host is lost":    {lost(1, func(o *Observation) { o.Host.CAs = nil }), nil},
		"the CA is being replaced":      {lost(1, func(o *Observation) { o.Host.CAs = []string{"new", "ca"} }), nil},
		"an empty cluster serves":       {lost(1, serves, func(o *Observation) { o.Etcd.ClusterUID = "new" }), nil},
		"an empty etcd serves":          {lost(1, serves, func(o *Observation) { o.Etcd.Revision = 99 }), nil},
		"etcd with the data serves":     {lost(1, serves, func(o *Observation) { o.Etcd.Revision = 100 }), []string{EtcdServes}},
		"an older state serves":         {lost(1, serves, func(o *Observation) { o.Etcd.ClusterUID, o.Etcd.Revision = "c", 99 }), []string{EtcdServes}},
		"the cluster of the backup":     {lost(1, serves, func(o *Observation) { o.Etcd.ClusterUID = "c" }), []string{EtcdServes}},
		"records of two clusters":       {lost(1, func(o *Observation) { o.Host.ClusterUIDs = []string{"former", "c"} }), nil},
		"an unrecorded digest":          {lost(1, func(o *Observation) { o.Backup.Recorded = false }), []string{DigestUnknown}},
		"an older etcd minor":           {lost(1, func(o *Observation) { o.Host.EtcdVersion = "3.5.26" }), []string{"EtcdVersion"}},
		"an older etcd patch":           {lost(1, func(o *Observation) { o.Host.EtcdVersion = "3.6.4-0" }), nil},
		"a newer etcd minor":            {lost(1, func(o *Observation) { o.Host.EtcdVersion = "3.7.0-0" }), nil},
		"two newer etcd minors":         {lost(1, func(o *Observation) { o.Host.EtcdVersion = "3.8.0" }), []string{"EtcdVersion"}},
		"an unknown version of etcd":    {lost(1, func(o *Observation) { o.Host.EtcdVersion = "" }), []string{"EtcdVersion"}},
		"a renamed host":                {lost(3, func(o *Observation) { o.Host.Member = "cp-9" }), []string{"MemberUnknown"}},
		"another address":               {lost(3, func(o *Observation) { o.Host.PeerURL = "https://10.9.9.9:2380" }), []string{"MemberUnknown"}},
		"a WAL of one of three":         {lost(3, others, func(o *Observation) { o.Host.SeparateWAL = true }), []string{"SeparateWAL"}},
		"a read-only manifest":          {lost(3, others, func(o *Observation) { o.Host.ReadOnlyManifest = "/ro/etcd.yaml" }), []string{"ManifestReadOnly"}},
		"a manifest that stays":         {lost(1, func(o *Observation) { o.Host.ReadOnlyManifest = "/ro/etcd.yaml" }), nil},
		"a clock that is behind":        {lost(1, func(o *Observation) { o.Host.Revision = NewRun(now.AddDate(1, 0, 0)).Revision() }), []string{"ClockBehind"}},
		"several peer URLs":             {lost(3, func(o *Observation) { o.Host.PeerURL = "https://host:2380,https://10.0.0.1:2380" }), nil},
		"an open upgrade":               {lost(1, func(o *Observation) { o.Host.OpenUpgrade = true }), []string{UpgradeInProgress}},
		"a separate WAL":                {lost(1, func(o *Observation) { o.Host.SeparateWAL = true }), []string{"SeparateWAL"}},
		"a full disk":                   {lost(1, func(o *Observation) { o.Host.Free = 100 << 20 }), []string{"DiskFull"}},
		"a full disk of one of three":   {lost(3, others, func(o *Observation) { o.Host.Free = 100 << 20 }), nil},
		"several":                       {lost(1, serves, func(o *Observation) { o.Backup.Recorded = false }), []string{EtcdServes, DigestUnknown}},
		"another cluster, waived":       {lost(1, func(o *Observation) { o.Host.ClusterUIDs, o.Waived = []string{"other"}, []string{"OtherCluster"} }), []string{"OtherCluster"}},
		"an older etcd minor, waived":   {lost(1, func(o *Observation) { o.Host.EtcdVersion, o.Waived = "3.5.26", []string{"EtcdVersion"} }), []string{"EtcdVersion"}},
		"one of three needs no digest":  {lost(3, others, func(o *Observation) { o.Backup.Recorded = false }), nil},
		"one of three of other cluster": {lost(3, others, func(o *Observation) { o.Host.ClusterUIDs = []string{"other"} }), []string{"OtherCluster"}},
	} {
		var got []string
		for _, r := range Decide(tt.o).Refusals {
			got = append(got, r.Reason)
			if r.Message == "" || r.Remedy == "" {
				t.Errorf("%s: %+v has no message or no remedy", name, r)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
