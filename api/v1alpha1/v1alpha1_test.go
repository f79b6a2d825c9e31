package v1alpha1

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestASchemeKnowsEveryKind(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"ClusterUpgrade", "NodeUpgrade", "NodeReport", "ClusterRelease", "BackupStore", "EtcdBackup"} {
		for _, name := range []string{kind, kind + "List"} {
			object, err := scheme.New(GroupVersion.WithKind(name))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if reflect.TypeOf(object.DeepCopyObject()) != reflect.TypeOf(object) {
				t.Errorf("a copy of %T is a %T", object, object.DeepCopyObject())
			}
		}
	}
}

// What nobody set is not written: under server-side apply, a zero that is written is owned.
func TestUnsetFieldsAreOmitted(t *testing.T) {
	for object, want := range map[any]string{
		&ClusterUpgrade{}: `{"metadata":{},"spec":{}}`,
		&NodeUpgrade{}:    `{"metadata":{},"spec":{}}`,
		&NodeReport{}:     `{"metadata":{}}`,
		&ClusterRelease{}: `{"metadata":{},"spec":{}}`,
		&BackupStore{}:    `{"metadata":{},"spec":{}}`,
		&EtcdBackup{}:     `{"metadata":{},"spec":{}}`,
	} {
		got, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("an empty %T is written as %s", object, got)
		}
	}
}

func TestLabelsAreCopied(t *testing.T) {
	spec := ClusterUpgradeSpec{NodeSelector: Labels{"zone": "a"}}
	spec.DeepCopy().NodeSelector["zone"] = "b"
	if spec.NodeSelector["zone"] != "a" {
		t.Error("the copy shares its labels")
	}
	if (&ClusterUpgradeSpec{}).DeepCopy().NodeSelector != nil {
		t.Error("no labels became some")
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		text, front, end string
		limit            int
	}{
		{text: "", front: "", end: "", limit: 3},
		{text: "abc", front: "abc", end: "abc", limit: 3},
		{text: "abcd", front: "…cd", end: "ab…", limit: 3},
		{text: "äöüß", front: "…üß", end: "äö…", limit: 3},
		{text: "ab", front: "…", end: "…", limit: 1},
	} {
		if got := Clip(tt.text, tt.limit); got != tt.end {
			t.Errorf("Clip(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.end)
		}
		if got := ClipFront(tt.text, tt.limit); got != tt.front {
			t.Errorf("ClipFront(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.front)
		}
	}
	// The API server counts characters, and reads what is no UTF-8 as one character for each byte.
	broken := strings.Repeat("\xff", 10)
	if got := Clip(broken, 5); len([]rune(got)) != 5 {
		t.Errorf("Clip leaves %q", got)
	}
}
