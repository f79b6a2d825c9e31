package configpatch

import (
	"encoding/json"
	"fmt"
)

// ConfigMap is the ConfigMap in kube-system that has the last patch.
const ConfigMap = "refit-cluster-configuration"

// recordKey is the entry of the ConfigMap, and recordFormat the version in it.
const (
	recordKey    = "patch.json"
	recordFormat = 1
)

type record struct {
	Format int    `json:"format"`
	Fields Values `json:"fields"`
}

// Encode returns the data of the ConfigMap for the last patch, none if it set nothing.
func Encode(values Values) (map[string]string, error) {
	if len(values) == 0 {
		return nil, nil //nolint:nilnil // there is no data
	}
	text, err := json.Marshal(record{recordFormat, values})
	return map[string]string{recordKey: string(text)}, err
}

// Decode returns the last patch in the data of the ConfigMap.
func Decode(data map[string]string) (Values, error) {
	text, there := data[recordKey]
	if !there {
		return Values{}, nil
	}
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, err
	}
	if r.Format != recordFormat {
		return nil, fmt.Errorf("its format is %d, not %d", r.Format, recordFormat)
	}
	return r.Fields, nil
}
