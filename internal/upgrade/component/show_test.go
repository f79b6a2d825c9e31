package component

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func secretWith(data map[string]any) Object {
	return Object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "data": data}
}

func TestValuesThatAreNotShown(t *testing.T) {
	config := func(random string) Object {
		return Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": map[string]any{"a/b": random, "x": random + "!"}}
	}
	mask := Mask{{Kind: "ConfigMap", Name: "c"}: {"/data/a~1b": true}}
	for situation, c := range map[string]struct {
		before, after Object
		mask          Mask
		from, to      map[string]any // data
	}{
		"a value of a Secret differs": {
			secretWith(map[string]any{"same": "c2FtZQ==", "other": "b2xk"}), secretWith(map[string]any{"same": "c2FtZQ==", "other": "bmV3"}), nil,
			map[string]any{"same": Masked, "other": maskedBefore},
			map[string]any{"same": Masked, "other": maskedAfter},
		},
		"a key of a Secret is new": {
			secretWith(map[string]any{}), secretWith(map[string]any{"new": "bmV3"}), nil, map[string]any{}, map[string]any{"new": Masked},
		},
		"a Secret is new":     {nil, secretWith(map[string]any{"new": "bmV3"}), nil, nil, map[string]any{"new": Masked}},
		"a Secret is deleted": {secretWith(map[string]any{"old": "b2xk"}), nil, nil, map[string]any{"old": Masked}, nil},
		"a value is random": {
			config("1"), config("2"), mask, map[string]any{"a/b": Masked, "x": "1!"}, map[string]any{"a/b": Masked, "x": "2!"},
		},
	} {
		var olds, news []Object
		if c.before != nil {
			olds = append(olds, c.before)
		}
		if c.after != nil {
			news = append(news, c.after)
		}
		shown := Show(olds, news, "", c.mask)
		if len(shown) != 1 {
			t.Errorf("%s: %d changes", situation, len(shown))
			continue
		}
		from, _ := shown[0].Before["data"].(map[string]any)
		to, _ := shown[0].After["data"].(map[string]any)
		if !reflect.DeepEqual(c.from, from) || !reflect.DeepEqual(c.to, to) {
			t.Errorf("%s: %v, %v", situation, from, to)
		}
	}
}

// TestShowingChangesLeavesTheManifestsAlone: they are applied later.
func TestShowingChangesLeavesTheManifestsAlone(t *testing.T) {
	before, after := secretWith(map[string]any{"k": "b2xk"}), secretWith(map[string]any{"k": "bmV3"})
	Show([]Object{before}, []Object{after}, "", Mask{{Kind: "Secret", Name: "s"}: {"/metadata/name": true}})
	content, err := json.Marshal([]Object{before, after})
	if err != nil || strings.Contains(string(content), Masked) {
		t.Errorf("%s, %v", content, err)
	}
}

func TestSecretsWithoutAMapAreMasked(t *testing.T) {
	odd := secretWith(nil)
	odd["data"] = "cGFzc3dvcmQ="
	content, err := json.Marshal(Show(nil, []Object{odd}, "", nil))
	if err != nil || strings.Contains(string(content), "cGFzc3dvcmQ=") {
		t.Errorf("%s, %v", content, err)
	}
}
