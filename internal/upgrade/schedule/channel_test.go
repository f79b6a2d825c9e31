package schedule

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

var now = time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// release returns a ClusterRelease of a version that is some days old.
func release(version string, days int) Release {
	return Release{
		Release: cluster.Release{Name: strings.ReplaceAll(version, ".", "-"), Payload: refitv1alpha1.ReleasePayload{Kubernetes: version}},
		Created: now.Add(-time.Duration(days) * day),
	}
}

func channel(follow refitv1alpha1.Follow, minAge time.Duration, lag int32) refitv1alpha1.UpgradeScheduleSpec {
	return refitv1alpha1.UpgradeScheduleSpec{Channel: refitv1alpha1.Channel{Follow: follow, MinAge: metav1.Duration{Duration: minAge}, Lag: lag}}
}

func TestChannels(t *testing.T) {
	patch, minor := channel(refitv1alpha1.FollowPatch, 0, 0), channel(refitv1alpha1.FollowMinor, 0, 0)
	workers := minor
	workers.Template.Scope = refitv1alpha1.ScopeWorkers
	rejected, unreadable := release("v1.35.6", 9), release("v1.35.7", 9)
	rejected.RejectedBy, unreadable.Error = 2, "the envelope is not signed"
	rebuilt := release("v1.35.5", 3)
	rebuilt.Name = "v1-35-5-2"
	set := func(versions ...string) func(*cluster.Snapshot) {
		return func(s *cluster.Snapshot) {
			for i, v := range versions {
				s.Nodes[i].Kubelet = v
				if s.Nodes[i].ControlPlane {
					s.APIServer(s.Nodes[i].Name).Version = v
				}
			}
		}
	}
	for situation, test := range map[string]struct {
		spec     refitv1alpha1.UpgradeScheduleSpec
		cluster  func(*cluster.Snapshot)
		releases []Release
		want     string // the name of the ClusterRelease, or a part of the message
	}{
		"the newest patch release":                {patch, nil, []Release{release("v1.35.5", 9), release("v1.35.10", 2), release("v1.36.3", 9)}, "v1-35-10"},
		"nothing newer":                           {patch, nil, []Release{release("v1.35.4", 9), release("v1.35.3", 9), release("v1.36.3", 9)}, "the cluster runs v1.35.4, and there is no newer ClusterRelease of v1.35"},
		"no ClusterRelease":                       {patch, nil, nil, "no newer ClusterRelease of v1.35"},
		"the newest is too young":                 {channel(refitv1alpha1.FollowPatch, 7*day, 0), nil, []Release{release("v1.35.5", 9), release("v1.35.6", 2)}, "v1-35-5"},
		"exactly old enough":                      {channel(refitv1alpha1.FollowPatch, 7*day, 0), nil, []Release{release("v1.35.5", 7)}, "v1-35-5"},
		"all are too young":                       {channel(refitv1alpha1.FollowPatch, 7*day, 0), nil, []Release{release("v1.35.5", 2)}, "v1-35-5 is old enough from 2026-11-08T10:00:00Z"},
		"the newest is rejected":                  {patch, nil, []Release{release("v1.35.5", 9), rejected}, "v1-35-5"},
		"the only one is rejected":                {patch, nil, []Release{rejected}, "v1-35-6 is rejected by 2 hosts"},
		"the only one is unreadable":              {patch, nil, []Release{unreadable}, "v1-35-7 cannot be used: the envelope is not signed"},
		"two of one version":                      {patch, nil, []Release{rebuilt, release("v1.35.5", 9)}, "v1-35-5-2"},
		"two of one version, the later too young": {channel(refitv1alpha1.FollowPatch, 7*day, 0), nil, []Release{rebuilt, release("v1.35.5", 9)}, "v1-35-5"},
		"a worker is behind":                      {patch, set("v1.35.4", "v1.35.4", "v1.35.4", "v1.35.3"), []Release{release("v1.35.4", 9)}, "v1-35-4"},
		"the next minor version":                  {minor, nil, []Release{release("v1.35.9", 9), release("v1.36.2", 9), release("v1.36.3", 9), release("v1.37.1", 9)}, "v1-36-3"},
		"no ClusterRelease of the next one":       {minor, nil, []Release{release("v1.35.9", 9), release("v1.37.1", 9)}, "v1-35-9"},
		"the next one is too young":               {channel(refitv1alpha1.FollowMinor, 7*day, 0), nil, []Release{release("v1.35.9", 9), release("v1.36.3", 1)}, "v1-35-9"},
		"nothing of either":                       {minor, nil, []Release{release("v1.37.1", 9)}, "there is no newer ClusterRelease up to v1.36"},
		"it stays one behind":                     {channel(refitv1alpha1.FollowMinor, 0, 1), nil, []Release{release("v1.35.9", 9), release("v1.36.3", 9)}, "v1-35-9"},
		"it follows one behind":                   {channel(refitv1alpha1.FollowMinor, 0, 1), nil, []Release{release("v1.36.3", 9), release("v1.37.1", 0)}, "v1-36-3"},
		"it stays two behind":                     {channel(refitv1alpha1.FollowMinor, 0, 2), nil, []Release{release("v1.36.3", 9), release("v1.37.1", 9)}, "no newer ClusterRelease of v1.35"},
		"it is less behind than that already":     {channel(refitv1alpha1.FollowMinor, 0, 3), nil, []Release{release("v1.35.9", 9), release("v1.36.3", 9)}, "v1-35-9"},
		"an upgrade ended in between":             {patch, set("v1.36.3", "v1.36.3"), []Release{release("v1.35.9", 9), release("v1.36.3", 9), release("v1.36.2", 9)}, "v1-36-3"},
		"workers follow the control plane":        {workers, set("v1.36.3", "v1.36.3", "v1.36.3"), []Release{release("v1.36.3", 9), release("v1.37.1", 9)}, "v1-36-3"},
		"workers do not overtake it":              {workers, nil, []Release{release("v1.36.3", 9)}, "no newer ClusterRelease of v1.35"},
		"no version is reported": {patch, func(s *cluster.Snapshot) {
			s.Version, s.APIServers = "", nil
			for i := range s.Nodes {
				s.Nodes[i].Report, s.Nodes[i].Static = nil, nil
			}
		}, []Release{release("v1.35.5", 9)}, "no version is chosen: the version of the control plane is unknown"},
	} {
		t.Run(situation, func(t *testing.T) {
			s := clustertest.HA("v1.35.4", 3, 2)
			if test.cluster != nil {
				test.cluster(s)
			}
			got := Choose(&test.spec, s, test.releases, now)
			if strings.HasPrefix(test.want, "v1-") && !strings.Contains(test.want, " ") {
				if got.Release != test.want {
					t.Errorf("it chooses %q, want %s: %s", got.Release, test.want, got.Message)
				}
				return
			}
			if !got.None() || !strings.Contains(got.Message, test.want) {
				t.Errorf("it chooses %q: %q, want %q", got.Release, got.Message, test.want)
			}
		})
	}
}
