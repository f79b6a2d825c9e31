package observe

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestComponentsOfARelease(t *testing.T) {
	const payload = `{"kubernetes":"v1.36.3"}`
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(payload)))
	envelope := func(kind, content string) []byte {
		return fmt.Appendf(nil, `{"payloadType":%q,"payload":%q,"signatures":[{}]}`, kind, base64.StdEncoding.EncodeToString([]byte(content)))
	}
	list := fmt.Sprintf(`{"release":%q,"components":[{"name":"liqo","version":"v1.2.0"}]}`, digest)
	for situation, c := range map[string]struct {
		components []byte
		want       int
		err        string
	}{
		"none":                    {nil, 0, ""},
		"one":                     {envelope(refitv1alpha1.ComponentsPayloadType, list), 1, ""},
		"another payload type":    {envelope("text/plain", list), 0, `contains "text/plain"`},
		"for another release":     {envelope(refitv1alpha1.ComponentsPayloadType, `{"release":"sha256:0"}`), 0, "signed for the release sha256:0"},
		"an invalid payload":      {envelope(refitv1alpha1.ComponentsPayloadType, "sesame"), 0, "cannot parse the signed components"},
		"an envelope that is not": {[]byte("sesame"), 0, "cannot parse the envelope"},
	} {
		t.Run(situation, func(t *testing.T) {
			r := &refitv1alpha1.ClusterRelease{Spec: refitv1alpha1.ClusterReleaseSpec{
				Kubernetes: "v1.36.3", Envelope: envelope(refitv1alpha1.ReleasePayloadType, payload), Components: c.components,
			}}
			got := releaseOf(r)
			if got.Error != "" || len(got.Components) != c.want || (got.ComponentsError == "") != (c.err == "") || !strings.Contains(got.ComponentsError, c.err) {
				t.Errorf("it is %+v", got)
			}
		})
	}
}

func TestNewerOfWatchedAndReadComponentsCounts(t *testing.T) {
	component := func(version, installed string) refitv1alpha1.Component {
		c := refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "liqo", ResourceVersion: version}}
		c.Status = refitv1alpha1.ComponentStatus{Owner: refitv1alpha1.OwnerRefit, Installed: &refitv1alpha1.InstalledComponent{Version: installed}}
		return c
	}
	order := func(version string, sequence int64) refitv1alpha1.ComponentUpgrade {
		u := refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "liqo", ResourceVersion: version}}
		u.Spec.Sequence, u.Status.Error = sequence, &refitv1alpha1.NodeError{Message: "not ready", LogTail: "password"}
		return u
	}
	for situation, c := range map[string]struct {
		watched, read string
		want          string
	}{
		"the watch is ahead":  {"11", "10", "v2"},
		"the watch is behind": {"9", "10", "v1"},
	} {
		t.Run(situation, func(t *testing.T) {
			w := readOf(&kept{}, "worker-1")
			w.watched[reflect.TypeFor[*refitv1alpha1.Component]()] = store[refitv1alpha1.Component]{&[]refitv1alpha1.Component{component(c.watched, "v2")}}
			w.watched[reflect.TypeFor[*refitv1alpha1.ComponentUpgrade]()] = store[refitv1alpha1.ComponentUpgrade]{&[]refitv1alpha1.ComponentUpgrade{order(c.watched, 2)}}
			w.last.components = []refitv1alpha1.Component{component(c.read, "v1")}
			w.last.componentUpgrades = []refitv1alpha1.ComponentUpgrade{order(c.read, 1)}
			s, err := w.Snapshot(operation())
			if err != nil {
				t.Fatal(err)
			}
			got := s.Component("liqo")
			if got == nil || got.Status.Installed.Version != c.want || !got.ByRefit || got.Manage != refitv1alpha1.ManageRefit {
				t.Errorf("the component is %+v, want %s", got, c.want)
			}
			if u := s.ComponentUpgrade("liqo"); u == nil || u.Spec.Sequence != map[string]int64{"v1": 1, "v2": 2}[c.want] || u.Status.Error.LogTail != "" {
				t.Errorf("the order is %+v", u)
			}
		})
	}
}

func TestAClusterWithOlderCRDsHasNoComponents(t *testing.T) {
	w := readOf(&kept{}, "worker-1")
	w.last.components = []refitv1alpha1.Component{{}}
	if s, err := w.Snapshot(operation()); err != nil || len(s.Components) > 0 {
		t.Errorf("components are %+v, error %v", s.Components, err)
	}
}
