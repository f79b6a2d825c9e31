//go:build apiserver

package controller

import (
	"slices"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// told returns the Events about an object, in the order of creation.
func (b *bed) told(kind, name string) []eventsv1.Event {
	b.t.Helper()
	var list eventsv1.EventList
	must(b.t, b.client.List(b.t.Context(), &list, client.InNamespace(metav1.NamespaceDefault)))
	list.Items = slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return e.Regarding.Kind != kind || e.Regarding.Name != name })
	slices.SortFunc(list.Items, func(x, y eventsv1.Event) int { return x.EventTime.Compare(y.EventTime.Time) })
	return list.Items
}

// tells waits until the Events about an object are exactly these, in this order: a reason, and a
// part of the note.
func (b *bed) tells(kind, name string, wanted ...string) {
	b.t.Helper()
	b.wait("the Events of "+name+" are\n"+strings.Join(wanted, "\n"), func() (bool, string) {
		var got []string
		for _, e := range b.told(kind, name) {
			got = append(got, e.Reason+": "+e.Note)
		}
		return slices.EqualFunc(got, wanted, strings.HasPrefix), "\n" + strings.Join(got, "\n")
	})
}
